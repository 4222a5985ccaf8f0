// `assay compare` as a user types it, over the dummy system's real sessions and real files.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
