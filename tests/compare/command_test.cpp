// `assay compare` as a user types it, over the dummy system's real sessions and real files.
#include <gmock/gmock.h>

#include <fstream>
#include <map>

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

/// Real time 47 % lower, CPU time 14 % higher; a second benchmark fails.
class BenchmarkFiles : public CompareCommand {
  protected:
    std::string written(const std::string& name, const std::string& text) const {
        const std::string path = (folder / name.c_str()).string();
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    std::string timed(const std::string& name, double real, double cpu,
                      const std::string& benchmark = "BM_mix",
                      const std::string& context = "\"num_cpus\": 2") const {
        std::string all;
        for (int i = 0; i < 7; ++i)
            all += "{\"name\": \"" + benchmark +
                   "\", \"run_type\": \"iteration\", \"real_time\": " +
                   std::to_string(real + 0.01 * i) +
                   ", \"cpu_time\": " + std::to_string(cpu + 0.01 * i) + ", \"depth\": 3}, ";
        return written(name, "{\"context\": {" + context + "}, \"benchmarks\": [" + all +
                                 "{\"name\": \"BM_bad\", \"error_occurred\": true}]}");
    }
    std::string old_file = timed("old.json", 100, 50), new_file = timed("new.json", 53, 57);
};

TEST_F(BenchmarkFiles, ADisagreementStandsBesideTheVerdictEverywhere) {
    const Printed printed = assay({"compare", old_file, new_file});
    EXPECT_EQ(printed.exit_code, 2) << "CPU time is slower";
    EXPECT_THAT(printed.out, HasSubstr("faster (!)"));
    EXPECT_THAT(printed.out, HasSubstr("slower (!)"));
    EXPECT_THAT(printed.out, HasSubstr("Warnings (!)\n  rows 1-2: real and CPU time disagree"));
    EXPECT_THAT(printed.out, HasSubstr("1 faster (!), 1 slower (!)"));
    // Nor is it forgotten where CPU time is not asked for.
    for (const char* option : {"--only=improvements", "--metric=real_time"}) {
        const Printed part = assay({"compare", old_file, new_file, option});
        EXPECT_THAT(part.out, HasSubstr("faster (!)")) << option;
        EXPECT_THAT(part.out, HasSubstr("real and CPU time disagree")) << option;
    }
    const auto rows = assay_json({"compare", old_file, new_file, "--metric", "real_time"});
    EXPECT_THAT(rows[0]["warnings"].dump(), HasSubstr("disagree"));
    EXPECT_THAT(assay({"compare", old_file, new_file, "--csv"}).out, HasSubstr("disagree"));
    EXPECT_THAT(assay({"compare", old_file, new_file, "--markdown"}).out, HasSubstr("faster (!)"));
    EXPECT_THAT(assay({"compare", old_file, new_file, "--explain", "1"}).out,
                HasSubstr("(!) real and CPU time disagree"));
}

TEST_F(BenchmarkFiles, AFileAndItsImportReadTheSame) {
    const auto direct = assay_json({"compare", old_file, new_file, "--all"});
    ASSERT_EQ(direct.size(), 4u) << direct.dump(1);
    ASSERT_EQ(assay({"import", old_file}).exit_code, 0);
    ASSERT_EQ(assay({"import", new_file}).exit_code, 0);
    const auto mixed = assay_json({"compare", old_file, "latest", "--all"});
    const auto imported = assay_json({"compare", "latest~1", "latest", "--all"});
    const auto by_name = [](const nlohmann::json& rows) {
        std::map<std::string, nlohmann::json> all;
        for (const auto& row : rows) all[row["name"]] = row;
        return all;
    };
    for (const auto* rows : {&mixed, &imported}) {
        ASSERT_EQ(rows->size(), direct.size()) << rows->dump(1);
        auto there = by_name(*rows);
        for (const auto& [name, row] : by_name(direct))
            for (const char* key :
                 {"series", "metric", "unit", "ratio", "low", "high", "verdict", "id", "warnings"})
                EXPECT_EQ(there[name][key], row[key]) << name << ' ' << key;
    }
    // One name finds the row on every route.
    for (const std::string& a : {old_file, std::string("latest~1")})
        for (const char* name : {"BM_mix cpu_time", "benchmark/BM_mix · cpu_time"})
            EXPECT_THAT(assay({"compare", a, "latest", "--explain", name}).out,
                        HasSubstr("benchmark/BM_mix · cpu_time, lower is better"))
                << a << ' ' << name;
}

TEST_F(BenchmarkFiles, WhatFailedBeforeTooIsNoNewFailure) {
    const auto rows = assay_json({"compare", old_file, old_file});
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[2]["verdict"], "failed before too");
    EXPECT_EQ(rows[0]["verdict"], "same") << "takes no other row with it";
    EXPECT_EQ(assay({"compare", old_file, old_file}).exit_code, 0);
    const Printed printed = assay({"compare", old_file, old_file, "--only", "failed-before-too"});
    EXPECT_THAT(printed.out, HasSubstr("1 of 3 rows shown"));
    EXPECT_EQ(assay_json({"compare", old_file, old_file, "--only", "regressions"}).size(), 0u);
    const std::string good = written("good.json", R"({"benchmarks": [{"name": "BM_bad",
        "real_time": 3}]})");
    EXPECT_EQ(assay({"compare", good, old_file, "--experiment", "BM_bad"}).exit_code, 2)
        << "a new failure";
}

TEST_F(BenchmarkFiles, AggregatesOnlyAreNamedOnBothRoutes) {
    const std::string file = written("mean.json", R"({"benchmarks": [{"name": "B_mean",
        "run_type": "aggregate", "aggregate_name": "mean", "real_time": 3}]})");
    for (const std::vector<std::string>& route :
         {std::vector<std::string>{"compare", old_file, file}, {"import", file}}) {
        const Printed printed = assay(route);
        EXPECT_EQ(printed.exit_code, 1);
        EXPECT_THAT(printed.err, HasSubstr("aggregates (means, medians) only"));
        EXPECT_THAT(printed.err, HasSubstr("without --benchmark_report_aggregates_only"));
    }
}

/// Of a session as `run` notes it, and of a file.
TEST_F(BenchmarkFiles, AMachineThatWasBusyIsToldBesideTheVerdict) {
    const std::string busy =
        timed("busy.json", 120, 60, "BM_mix", R"("num_cpus": 2, "load_avg": [3.5, 1, 1])");
    const auto sentence = HasSubstr("the machine was busy when B was measured (load)");
    EXPECT_THAT(assay({"compare", old_file, busy}).out, sentence);
    ASSERT_EQ(assay({"import", busy}).exit_code, 0);
    EXPECT_THAT(assay_json({"compare", old_file, "latest"})[0]["warnings"].dump(), sentence);
}

/// Escapes, line breaks, marks of direction, bytes that are no UTF-8, in every foreign text.
TEST_F(BenchmarkFiles, HostileNamesReachNoTerminal) {
    const std::string name =
        R"(x\u001b]0;owned\u0007\u001b[2J\n0 rows: all same | a\tb\u202ecba\u2028\u009b31m)"
        R"(<b>&\",\u007f)";
    const std::string context = R"("num_cpus": "2\u001b[31m", "host_name": "h\u001b[0m",
        "executable": "e\u001b[0m", "date": "d\u001b[0m", "caches": [{"type": "\u001b[7m"}])";
    const std::string bad_a = timed("a\x1b[1m\n\xff.json", 100, 50, name, context);
    const std::string bad_b =
        timed("b\x1b[1m.json", 53, 57, name, context + R"(, "c\u001b": "\u001b")");
    ASSERT_EQ(assay({"import", bad_b}).exit_code, 0);
    const auto clean = [](const std::string& text) {
        for (const char* mark :
             {"\x1b", "\t", "\r", "\x07", "\x7f", "\xff", "\u202e", "\u2028", "\u009b", "\n0 rows"})
            EXPECT_EQ(text.find(mark), std::string::npos) << text;
    };
    for (const std::string& b : {bad_b, std::string("latest")})
        for (const std::vector<std::string>& how : {std::vector<std::string>{},
                                                    {"--explain", "1"},
                                                    {"--json"},
                                                    {"--csv"},
                                                    {"--markdown"},
                                                    {"--experiment", "nothing"},
                                                    {"--explain", "none \x1b[1m"},
                                                    {"--metric", "\x1b"}}) {
            std::vector<std::string> typed{"compare", bad_a, b};
            typed.insert(typed.end(), how.begin(), how.end());
            const Printed printed = assay(typed);
            EXPECT_FALSE((printed.out + printed.err).empty());
            clean(printed.out);
            clean(printed.err);
        }
    clean(assay({"import", bad_a}).out);
    clean(assay({"compare", bad_a, "nowhere\x1b[1m.json"}).err);
    clean(assay({"history", "benchmark/*"}).out);
    const auto rows = assay_json({"compare", bad_a, "latest~1"});
    EXPECT_THAT(rows[0]["series"].get<std::string>(), HasSubstr("\u202e")) << "data stay whole";
    EXPECT_EQ(rows[0]["verdict"], "faster");
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
