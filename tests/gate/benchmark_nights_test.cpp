// Nights of programs of Google Benchmark: what they call their benchmarks, and what they count.
#include <gmock/gmock.h>

#include "tests/gate/nightly_fixture.hpp"

namespace assay::testing {
namespace {

/// Two benchmarks of one name, and one that counts; a test sets the first one's time and the
/// counter.
constexpr const char* counting_benchmark = R"(#!/bin/sh
folder=$(dirname "$0")
for argument; do case "$argument" in --benchmark_out=*) out=${argument#--benchmark_out=};; esac; done
first=100; [ -f "$folder/first" ] && first=$(cat "$folder/first")
rate=8; [ -f "$folder/rate" ] && rate=$(cat "$folder/rate")
cat > "$out" <<END
{"context": {"num_cpus": 2}, "benchmarks": [
 {"name": "BM_twice", "family_index": 0, "real_time": $first, "time_unit": "ns"},
 {"name": "BM_twice", "family_index": 1, "real_time": 5, "time_unit": "ns"},
 {"name": "BM_rate", "family_index": 2, "real_time": 7, "time_unit": "us", "GFLOPS": $rate}]}
END
)";

class BenchmarkNights : public NightlyTest {
  protected:
    BenchmarkNights() {
        write("fake_benchmark", counting_benchmark);
        std::ofstream(folder / "tiny.toml", std::ios::app) << "better = { GFLOPS = \"higher\" }\n";
        night();
        accept();
    }
};

TEST_F(BenchmarkNights, TheSlowerOfTwoOfOneNameIsARegression) {
    write("first", "1000");
    night();
    const Told told = night();
    EXPECT_EQ(told.exit_code, 2);
    const auto time = [&](const char* benchmark) {
        return row(told.report, "benchmark/program",
                   std::string("real_time benchmark=") + benchmark);
    };
    EXPECT_EQ(time("BM_twice (1 of 2)")["verdict"], "slower");
    EXPECT_EQ(time("BM_twice (2 of 2)")["verdict"], "same");
}

TEST_F(BenchmarkNights, ACountersDirectionIsTheSuites) {
    EXPECT_EQ(row(night().report, "benchmark/program", "GFLOPS benchmark=BM_rate")["verdict"],
              "same");
    write("rate", "4");
    night();
    const Told told = night();
    EXPECT_EQ(told.exit_code, 2);
    EXPECT_EQ(row(told.report, "benchmark/program", "GFLOPS benchmark=BM_rate")["verdict"],
              "slower");
    EXPECT_EQ(row(told.report, "benchmark/program", "real_time benchmark=BM_rate")["verdict"],
              "same");
    std::ofstream(folder / "tiny.toml", std::ios::app)
        << "[[benchmark]]\nname = \"b\"\nprogram = \"fake_benchmark\"\nbetter = { GFLOPS = "
           "\"lower\" }\n";
    EXPECT_THAT(refusal({"nightly", (folder / "tiny.toml").string()}),
                HasSubstr("benchmark/b: better: of GFLOPS higher is better already"));
}

TEST_F(BenchmarkNights, WhatIsNoNumberFailsAlone) {
    write("first", "NaN");
    write("rate", "-inf");
    const Told told = night();
    EXPECT_THAT(told.report["failures"].dump(), HasSubstr("its real_time is NaN"));
    EXPECT_EQ(row(told.report, "benchmark/program", "real_time benchmark=BM_rate")["verdict"],
              "same");
    const json rate = row(told.report, "benchmark/program", "GFLOPS benchmark=BM_rate");
    EXPECT_EQ(rate["verdict"], "failed");
    EXPECT_THAT(told.report["failures"].dump(), HasSubstr("its GFLOPS is -Infinity"));
    EXPECT_EQ(told.exit_code, 1);
}

/// What hyperfine would write of a command whose time a file beside the suite has.
constexpr const char* launcher = R"(#!/bin/sh
time=$(cat "$3")
echo "{\"results\": [{\"command\": \"server\", \"times\": [$time, $time]}]}" > "$2"
)";

class LauncherNights : public NightlyTest {
  protected:
    LauncherNights() {
        write("first", "0.1");
        write("fake_hyperfine", launcher);
        std::filesystem::permissions(program_folder / "fake_hyperfine",
                                     std::filesystem::perms::owner_all);
        std::ofstream(folder / "tiny.toml", std::ios::app)
            << "[[benchmark]]\nname = \"start\"\nprogram = \""
            << (program_folder / "fake_hyperfine").string() << "\"\nfrom = \"hyperfine\"\n"
            << "arguments = [\"--export-json\", \"{out}\", \""
            << (program_folder / "first").string() << "\"]\n";
        night();
        accept();
    }
};

/// The launcher is the same, and its kept copy would measure what is there now: the machine would
/// be blamed.
TEST_F(LauncherNights, WhatALauncherMeasuresIsJudgedByTheBaselinesValues) {
    EXPECT_EQ(row(night().report, "benchmark/program", "real_time benchmark=server")["verdict"],
              "same");
    write("first", "0.2");
    night();
    const Told told = night();
    EXPECT_EQ(told.exit_code, 2) << told.report.dump(1);
    EXPECT_EQ(row(told.report, "benchmark/program", "real_time benchmark=server")["verdict"],
              "slower");
}

}  // namespace
}  // namespace assay::testing
