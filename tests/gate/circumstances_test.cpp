// What differs beside the code between a night and its baseline: other programs and builds of them,
// the machine, its software.
#include <SQLiteCpp/Database.h>
#include <sched.h>

#include <fstream>
#include <iterator>

#include "tests/gate/nightly_fixture.hpp"

namespace assay::testing {
namespace {

using ::testing::AllOf;

/// Its time, what it says of itself and a counter stand in files beside it.
constexpr const char* telling_benchmark = R"(#!/bin/sh
folder=$(dirname "$0")
time=100; [ -f "$folder/fake_time" ] && time=$(cat "$folder/fake_time")
context='"num_cpus": 2, "library_build_type": "release"'
[ -f "$folder/context" ] && context=$(cat "$folder/context")
for argument; do case "$argument" in --benchmark_out=*) out=${argument#--benchmark_out=};; esac; done
cat > "$out" <<END
{"context": {$context}, "benchmarks": [
 {"name": "BM_a", "real_time": $time.$(($$ % 90 + 10)), "time_unit": "ns", "of_read": 0.5},
 {"name": "BM_b", "real_time": 7, "time_unit": "us"}]}
END
)";

class Circumstances : public NightlyTest {
  protected:
    Circumstances() {
        write("fake_benchmark", telling_benchmark);
        night();
        accept();
    }

    void change(const std::string& sql) const {
        SQLite::Database((folder / "results.db").string(), SQLite::OPEN_READWRITE).exec(sql);
    }
    std::string text_of(const std::string& name) const {
        std::ifstream in(folder.path() / name);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    static std::string warnings(const Told& told) { return told.report["warnings"].dump(); }
    static json time(const Told& told) {
        return row(told.report, "benchmark/program", "real_time benchmark=BM_a");
    }
};

TEST_F(Circumstances, TwoProgramsOfASuiteAreNotOfOneProgram) {
    const std::string says = "are of one program";
    write("fake_time", "150");
    slow_build("left", 1.5);
    night();
    EXPECT_THAT(assay({"compare", "latest~1", "latest", "--explain", "benchmark/fake BM_a"}).out,
                HasSubstr(says))
        << "only what it reads changed";
    write("fake_benchmark", telling_benchmark + std::string("# built anew\n"));
    night();
    const auto explained = [&](const char* row) {
        return assay({"compare", "baseline:tiny", "latest", "--explain", row}).out;
    };
    EXPECT_THAT(explained("benchmark/fake BM_a"), AllOf(HasSubstr("slower"), Not(HasSubstr(says))));
    EXPECT_THAT(explained("night/work left n=1 seconds"),
                AllOf(HasSubstr("slower"), HasSubstr(says)))
        << "that is a row of this program, which is the old one";
}

TEST_F(Circumstances, ADebugBuildOfAProgramIsNotCompared) {
    write("context", R"("library_build_type": "debug")");
    const Told told = night();
    EXPECT_EQ(time(told)["reason_code"], "context-differs") << time(told).dump(1);
    EXPECT_THAT(warnings(told),
                HasSubstr("3 rows are not compared, since library_build_type (release, now debug) "
                          "differs from the baseline: build the program as it was then; or "
                          "`assay baseline accept tiny` makes tonight the new one"));
    EXPECT_THAT(time(told)["reason"].get<std::string>(),
                HasSubstr("library_build_type differs: release in the baseline, debug tonight"));
    EXPECT_EQ(left(told.report)["verdict"], "same") << "of another program";
    write("context", R"("library_build_type": "release", "num_cpus": 8)");
    EXPECT_THAT(warnings(night()), HasSubstr("num_cpus (2, now 8)"));
}

TEST_F(Circumstances, CpuScalingThatAProgramTellsIsAWarning) {
    EXPECT_THAT(warnings(night()), Not(HasSubstr("scaling")));
    write("context", R"("library_build_type": "release", "cpu_scaling_enabled": true)");
    const Told told = night();
    EXPECT_THAT(warnings(told),
                HasSubstr("CPU scaling is on, as the suite's programs say, and was"));
    EXPECT_EQ(time(told)["verdict"], "same");
    EXPECT_THAT(assay({"compare", "baseline:tiny", "latest", "--explain", "1"}).out,
                HasSubstr("before B of cpu scaling"))
        << "as between files";
}

TEST_F(Circumstances, TheCommitOfAProgramIsKeptAndShown) {
    const auto commit = [&](const char* id) {
        write("context", std::string(R"("library_build_type": "release", "commit": ")") + id + '"');
    };
    commit("aaaa1111");
    const Told told = night({"--html", (folder / "n.html").string()});
    EXPECT_EQ(told.report["program_commits"], json({{"fake", "aaaa1111"}}));
    EXPECT_THAT(text_of("n.html"), HasSubstr("<dt>commit of fake</dt><dd>aaaa1111</dd>"));
    commit("bbbb2222");
    night();
    EXPECT_THAT(assay({"compare", "latest~1", "latest"}).out,
                HasSubstr("commit of fake aaaa1111 → bbbb2222"));
}

TEST_F(Circumstances, ANightThatBlamesTheMachineNamesWhatChanged) {
    change(
        "UPDATE session SET suspects = json_set(suspects, '$.kernel', '5.0', '$.governor', "
        "'fast')");
    const EnvironmentVariable slow("ASSAY_TEST_MACHINE_FACTOR", "1.1");
    const Told told =
        night({"--junit", (folder / "n.xml").string(), "--html", (folder / "n.html").string(),
               "--markdown", (folder / "n.md").string()});
    EXPECT_THAT(warnings(told),
                AllOf(HasSubstr("4 rows are slower than the baseline, and so is the baseline's own "
                                "program tonight: the machine or its software, not this code ("),
                      HasSubstr("since then changed: kernel 5.0 → ")));
    const auto& changes = told.report["machine_changes"];
    ASSERT_EQ(changes.size(), 2u) << changes.dump();
    EXPECT_EQ(changes[0]["name"], "kernel");
    EXPECT_EQ(changes[0]["before"], "5.0");
    EXPECT_EQ(changes[1]["name"], "governor");
    for (const char* report : {"n.xml", "n.html", "n.md"})
        EXPECT_THAT(text_of(report), AllOf(HasSubstr("kernel 5.0 → "), HasSubstr("governor fast")))
            << report;
}

TEST_F(Circumstances, OneThatBlamesItSaysAlsoThatNothingKnownChanged) {
    const EnvironmentVariable slow("ASSAY_TEST_MACHINE_FACTOR", "1.1");
    const Told told = night();
    EXPECT_THAT(
        warnings(told),
        HasSubstr("nothing recorded of it changed (host, kernel, os, libc, driver, governor)"));
    EXPECT_TRUE(told.report["machine_changes"].empty());
}

TEST_F(Circumstances, FewerProcessorsAreNamed) {
    cpu_set_t all, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
    CPU_ZERO(&one);
    for (std::size_t i = 0; CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    const Told told = night();
    ASSERT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
    const std::string was = std::to_string(CPU_COUNT(&all));
    EXPECT_THAT(warnings(told), AllOf(HasSubstr("hardware (usable cores: " + was + ", now 1)"),
                                      HasSubstr("taskset")));
    EXPECT_THAT(
        left(told.report)["reason"].get<std::string>(),
        HasSubstr("hardware (usable cores) differs: " + was + " in the baseline, 1 tonight"));
    EXPECT_THAT(assay({"compare", "baseline:tiny", "latest"}).out,
                AllOf(HasSubstr("hardware (usable cores) " + was + " in A, 1 in B"),
                      HasSubstr("--across hardware")));
}

TEST_F(Circumstances, CountersAreCalledByTheirBenchmarkEverywhere) {
    const std::string name = "benchmark/fake BM_a · of_read";
    const Told told =
        night({"--junit", (folder / "n.xml").string(), "--markdown", (folder / "n.md").string()});
    std::vector<std::string> rows;
    for (const json& each : told.report["rows"]) rows.push_back(each["row"]);
    EXPECT_THAT(rows, ::testing::Contains(name));
    for (const char* report : {"n.xml", "n.md"})
        EXPECT_THAT(text_of(report), AllOf(HasSubstr(name), Not(HasSubstr("arguments="))));
    const std::string list = assay({"history", "benchmark/*"}).out;
    EXPECT_THAT(list, AllOf(HasSubstr("of_read"), Not(HasSubstr("arguments="))));
    EXPECT_THAT(assay({"history", name}).out, HasSubstr("benchmark/fake BM_a: of_read\n"));
    ASSERT_EQ(assay({"mute", name}).exit_code, 0);
    const Told muted = night();
    for (const json& each : muted.report["rows"])
        EXPECT_EQ(each["muted"].get<bool>(), each["row"] == name) << each["row"];
}

TEST_F(Circumstances, EachSessionKeepsItsHost) {
    change("UPDATE session SET suspects = json_set(suspects, '$.host', 'first')");
    night();
    SQLite::Database sql((folder / "results.db").string(), SQLite::OPEN_READONLY);
    EXPECT_EQ(sql.execAndGet("SELECT host FROM sessions ORDER BY started LIMIT 1").getString(),
              "first");
    EXPECT_NE(sql.execAndGet("SELECT host FROM sessions ORDER BY started DESC LIMIT 1").getString(),
              "first");
    EXPECT_THAT(assay({"compare", "baseline:tiny", "latest"}).out, HasSubstr("host first → "));
}

}  // namespace
}  // namespace assay::testing
