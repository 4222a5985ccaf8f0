// `assay compare` as a user types it, over the dummy system's real sessions and real files.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CompareCommand : public ProgramTest {
  protected:
    CompareCommand() : ProgramTest(ASSAY_DUMMY_PROGRAM) {}

    /// A benchmark file of seven repetitions around `center` ns; two benchmarks.
    std::string file(const std::string& name, double center, const std::string& context = "{}") {
        const std::string path = (folder / name.c_str()).string();
        std::ofstream out(path);
        out << "{\"context\": " << context << ", \"benchmarks\": [";
        for (int i = 0; i < 14; ++i)
            out << (i ? "," : "") << "{\"name\": \"BM_" << i / 7
                << "\", \"run_type\": \"iteration\", \"time_unit\": \"ns\", \"real_time\": "
                << (i < 7 ? center : 50) * (1 + 0.0001 * (i % 7)) << "}";
        out << "]}";
        return path;
    }
    /// One benchmark of that name.
    std::string written(const std::string& name, const std::string& benchmark, int n) {
        const std::string path = (folder / name.c_str()).string();
        std::ofstream out(path);
        out << "{\"benchmarks\": [";
        for (int i = 0; i < n; ++i)
            out << (i ? "," : "") << "{\"name\": \"" << benchmark
                << "\", \"run_type\": \"iteration\", \"real_time\": " << 100 + i << "}";
        out << "]}";
        return path;
    }
    std::string a = file("a.json", 100), same = file("same.json", 100.01),
                slow = file("slow.json", 120);
};

TEST_F(CompareCommand, JsonOfTwoBenchmarkFiles) {
    const auto rows = assay_json({"compare", a, slow});
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["series"], "benchmark/BM_0");
    EXPECT_EQ(rows[0]["name"], "benchmark/BM_0 · real_time");
    EXPECT_TRUE(rows[0]["warnings"].empty());
    EXPECT_EQ(rows[0]["metric"], "real_time");
    EXPECT_EQ(rows[0]["verdict"], "slower");
    EXPECT_NEAR(rows[0]["ratio"].get<double>(), 1.2, 1e-9);
    EXPECT_THAT(rows[0]["reason"].get<std::string>(), HasSubstr("unpaired"));
    EXPECT_EQ(rows[1]["verdict"], "same");
    EXPECT_EQ(rows[1]["n_a"], 7);
}

TEST_F(CompareCommand, ExitCodesSayWhatCameOut) {
    EXPECT_EQ(assay({"compare", a, same}).exit_code, 0);
    EXPECT_EQ(assay({"compare", a, slow}).exit_code, 2);
    EXPECT_EQ(assay({"compare", slow, a}).exit_code, 0) << "faster is fine";
    EXPECT_EQ(assay({"compare", a, slow, "--margin", "30%"}).exit_code, 0);
    EXPECT_EQ(assay({"compare", a, file("few.json", 100), "--margin", "x"}).exit_code, 1);
    const std::string other = file("other.json", 100, "{\"num_cpus\": 64}");
    const std::string here = file("here.json", 100, "{\"num_cpus\": 2}");
    const Printed apart = assay({"compare", here, other});
    EXPECT_EQ(apart.exit_code, 4);
    EXPECT_THAT(apart.out, HasSubstr("nothing of this could be compared"));
    EXPECT_THAT(apart.out, HasSubstr("num_cpus 2 in A, 64 in B"));
    EXPECT_EQ(assay({"compare", here, other, "--across", "num_cpus"}).exit_code, 0);
}

TEST_F(CompareCommand, ShowsOnlyWhatIsAskedForButJudgesAll) {
    const Printed printed = assay({"compare", a, slow, "--only", "same"});
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_THAT(printed.out, Not(HasSubstr("BM_0")));
    EXPECT_THAT(printed.out, HasSubstr("1 of 2 rows shown"));
    EXPECT_EQ(assay({"compare", a, slow, "--experiment", "BM_1"}).exit_code, 0);
}

TEST_F(CompareCommand, WhyNothingWasComparableIsToldWhateverIsShown) {
    const std::string here = file("here.json", 100, "{\"num_cpus\": 2}"),
                      other = file("other.json", 100, "{\"num_cpus\": 64}");
    for (const char* only : {"--only=regressions", "--only=faster", "--only=not-comparable"}) {
        const Printed printed = assay({"compare", here, other, only});
        EXPECT_EQ(printed.exit_code, 4);
        EXPECT_THAT(printed.out, HasSubstr("num_cpus 2 in A, 64 in B")) << only;
        EXPECT_THAT(printed.out,
                    HasSubstr("to compare although num_cpus differs: --across num_cpus\n"));
    }
    const Printed rows = assay({"compare", here, other, "--only", "slower", "--json"});
    EXPECT_EQ(nlohmann::json::parse(rows.out).size(), 0u);
    EXPECT_THAT(rows.err, HasSubstr("nothing of this could be compared"));
    EXPECT_THAT(rows.err, HasSubstr("num_cpus 2 in A, 64 in B"));
    EXPECT_THAT(rows.err, HasSubstr("--across num_cpus"));
    EXPECT_EQ(assay({"compare", here, other, "--json"}).err, "") << "the rows say it";
    EXPECT_THAT(assay({"compare", here, other, "--across", "num_cpus"}).out,
                Not(HasSubstr("to compare although")));
    EXPECT_THAT(assay({"compare", a, slow, "--explain", "1", "--only", "same"}).err,
                HasSubstr("leave out --only"));
}

TEST_F(CompareCommand, PlainTextWithoutATerminal) {
    const Printed printed = assay({"compare", a, slow});
    EXPECT_THAT(printed.out, HasSubstr("BM_0"));
    EXPECT_THAT(printed.out, Not(HasSubstr("\x1b")));
}

TEST_F(CompareCommand, ExplainsARow) {
    const Printed printed = assay({"compare", a, slow, "--explain", "1"});
    EXPECT_THAT(printed.out, HasSubstr("one cluster"));
    EXPECT_THAT(printed.out, HasSubstr("margin"));
    EXPECT_EQ(assay({"compare", a, slow, "--explain", "1", "--json"}).exit_code, 1);
}

TEST_F(CompareCommand, SessionsOfTheDatabase) {
    ASSERT_EQ(assay({"run", "dummy/sum", "--rounds", "3"}).exit_code, 0);
    ASSERT_EQ(assay({"run", "dummy/sum", "--rounds", "3", "--fresh"}).exit_code, 0);
    const auto rows = assay_json({"compare", "latest~1", "latest"});
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
        EXPECT_EQ(row["verdict"], "same") << row;
        EXPECT_THAT(row["reason"].get<std::string>(), HasSubstr("identical"));
    }
    const Printed printed = assay({"compare", "latest~1", "latest"});
    EXPECT_EQ(printed.exit_code, 0);
    EXPECT_THAT(printed.out, HasSubstr("dummy/sum"));
    const auto by_file = assay_json({"compare", (folder / "results.db").string(), "latest"});
    EXPECT_EQ(by_file.size(), rows.size());
    const Printed explained = assay({"compare", "latest~1", "latest", "--explain", "1"});
    EXPECT_THAT(explained.out, HasSubstr("assay replay"));
    EXPECT_THAT(explained.out, HasSubstr("assay run dummy/sum"));
}

TEST_F(CompareCommand, SidesWithoutACommonRowAreOneLine) {
    const std::string other = written("other.json", "BM_other", 7);
    const Printed printed = assay({"compare", a, other});
    EXPECT_EQ(printed.exit_code, 4);
    EXPECT_THAT(printed.out, HasSubstr("A and B have no row in common: A has BM_0 (1 row), BM_1 "
                                       "(1); B has BM_other (1 row)\n"));
    EXPECT_THAT(printed.out, Not(HasSubstr("only-in")));
    const Printed markdown = assay({"compare", a, other, "--markdown"});
    EXPECT_EQ(markdown.exit_code, 4);
    EXPECT_EQ(std::count(markdown.out.begin(), markdown.out.end(), '\n'), 1) << markdown.out;
    const Printed rows = assay({"compare", a, other, "--json"});
    EXPECT_EQ(rows.exit_code, 4);
    EXPECT_EQ(nlohmann::json::parse(rows.out).size(), 3u) << "the data is all there";
    EXPECT_THAT(rows.err, HasSubstr("no row in common"));
    EXPECT_EQ(std::count(rows.err.begin(), rows.err.end(), '\n'), 1) << rows.err;
}

TEST_F(CompareCommand, ManyRowsOfOneSideAreOneSentenceToo) {
    const auto benchmarks = [&](const std::string& name, int n) {
        const std::string path = (folder / name.c_str()).string();
        std::ofstream out(path);
        out << "{\"benchmarks\": [";
        for (int i = 0; i < n; ++i)
            out << (i ? "," : "") << "{\"name\": \"BM_" << i
                << "\", \"run_type\": \"iteration\", \"real_time\": 1}";
        out << "]}";
        return path;
    };
    const std::string one = benchmarks("one.json", 1), few = benchmarks("few.json", 5),
                      many = benchmarks("many.json", 20);
    const std::string text = assay({"compare", one, many}).out;
    EXPECT_THAT(text, HasSubstr("\n1 of 20 rows shown\nonly B has BM_1 (1 row), BM_10 (1), BM_11 "
                                "(1) and 16 other rows: --only not-comparable shows them\n"));
    EXPECT_THAT(text, Not(HasSubstr("only-in-b")));
    EXPECT_THAT(assay({"compare", one, many, "--only", "not-comparable"}).out,
                HasSubstr("only-in-b"));
    EXPECT_THAT(assay({"compare", one, few}).out, HasSubstr("only-in-b")) << "so few are rows";
    EXPECT_EQ(assay_json({"compare", one, many}).size(), 20u);
}

TEST_F(CompareCommand, LongComparisonsAreBoundedAndSayTheCountsFirst) {
    const auto many = [&](const std::string& name, double factor) {
        const std::string path = (folder / name.c_str()).string();
        std::ofstream out(path);
        out << "{\"benchmarks\": [";
        for (int i = 0; i < 7 * 1000; ++i)
            out << (i ? "," : "") << "{\"name\": \"BM_" << i / 7
                << "\", \"run_type\": \"iteration\", \"time_unit\": \"ns\", \"real_time\": "
                << 100 * (1 + 0.0001 * (i % 7)) * (i / 7 % 2 ? factor : 1) << "}";
        out << "]}";
        return path;
    };
    const std::string before = many("before.json", 1), after = many("after.json", 1.2);
    const Printed markdown = assay({"compare", before, after, "--markdown"});
    EXPECT_LT(markdown.out.size(), 65'536u);
    EXPECT_THAT(markdown.out, StartsWith("1000 rows: 500 same, 500 slower. "));
    EXPECT_THAT(markdown.out, HasSubstr("Left out are "));
    const std::string text = assay({"compare", before, after}).out;
    EXPECT_LT(text.find("1000 rows: 500 same, 500 slower"), text.find("BM_1 "));
    EXPECT_THAT(text, HasSubstr("400 of 1000 rows shown, those that tell most; --csv and --json "
                                "have all\n"));
    EXPECT_EQ(assay_json({"compare", before, after}).size(), 1000u);
}

TEST_F(CompareCommand, TheLastLineSaysWhatWouldDecide) {
    const std::string spread = written("spread.json", "BM_0", 20);
    const std::string text = assay({"compare", spread, spread, "--margin", "3%"}).out;
    EXPECT_THAT(text, HasSubstr("\n1 ambiguous row: by the noise about ")) << text;
    EXPECT_THAT(text, EndsWith(" repetitions on either side would decide it\n"));
    EXPECT_EQ(std::count(text.begin() + static_cast<long>(text.find("1 ambiguous row:")),
                         text.end(), '\n'),
              1)
        << text;
    EXPECT_THAT(assay({"compare", spread, spread, "--margin", "3%", "--markdown"}).out,
                HasSubstr("\n\n1 ambiguous row: by the noise about "));
    ASSERT_EQ(assay({"run", "dummy/sum", "--rounds", "2"}).exit_code, 0);
    ASSERT_EQ(assay({"run", "dummy/sum", "--rounds", "2", "--fresh"}).exit_code, 0);
    EXPECT_THAT(assay({"compare", "latest~1", "latest"}).out, Not(HasSubstr("would decide")));
    EXPECT_THAT(assay({"compare", "latest~1", "latest", "--all"}).out,
                AllOf(HasSubstr("6 ambiguous rows of dummy/sum: by the noise about 5 rounds on "
                                "either side, "),
                      HasSubstr(" each, would decide them: `assay run dummy/sum --profile toy "
                                "--mode exact --rounds 5 --fresh`\n")))
        << "two pairs without noise";
}

TEST_F(CompareCommand, AFileThatIsNotReadIsCalledWhatItIs) {
    const auto told = [&](const std::string& name, const std::string& text) {
        const std::string path = (folder / name.c_str()).string();
        std::ofstream(path, std::ios::binary) << text;
        const Printed printed = assay({"compare", path, a});
        EXPECT_EQ(printed.exit_code, 1) << name;
        return printed.err;
    };
    const std::string table = "experiment;seed;value\nlte/fig8;1;0,5\n";
    EXPECT_THAT(told("x.csv", table), HasSubstr("x.csv is a table (CSV); bring it into a database "
                                                "first: `assay import "));
    EXPECT_THAT(told("x.txt", table), HasSubstr("x.txt is a table (CSV)"));
    EXPECT_THAT(told("x.jsonl", R"({"format":"assay-results","schema":7})"),
                HasSubstr("x.jsonl holds exported sessions; bring it into a database first: "));
    EXPECT_THAT(told("plans.jsonl", "{\"question\": \"why\"}\n{\"question\": \"how\"}\n"),
                AllOf(Not(HasSubstr("exported sessions")), HasSubstr("google-benchmark")))
        << "JSON lines of something else";
    EXPECT_THAT(told("x.json", " \n"), HasSubstr("x.json is empty"));
    EXPECT_THAT(told("x.png", std::string("\x89PNG\r\n\x1a\n\0\0", 10)),
                HasSubstr("x.png is neither text nor a database of results"));
    EXPECT_THAT(told("x.xml", "<testsuite/>"),
                AllOf(HasSubstr("no results that are read; those of these tools are: "),
                      Not(HasSubstr("import"))));
}

TEST_F(CompareCommand, UsageErrorsAreSentences) {
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"compare", a},
                                                  {"compare", a, "nowhere.json"},
                                                  {"compare", a, slow, "--only", "nonsense"},
                                                  {"compare", a, slow, "--json", "--csv"},
                                                  {"compare", a, slow, "--across", "weather"},
                                                  {"compare", "latest", a}}) {
        const Printed printed = assay(wrong);
        EXPECT_EQ(printed.exit_code, 1) << printed.out;
        EXPECT_THAT(printed.err, HasSubstr("assay: "));
    }
}

}  // namespace
}  // namespace assay::testing
