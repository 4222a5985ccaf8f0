// What a sample of a suite's benchmark keeps of the program's file.
#include "suite/gate/benchmark_experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::gate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Of a program that writes these entries: each metric by its name and labels.
class BenchmarkSample {
  public:
    explicit BenchmarkSample(const std::string& entries) {
        const std::string program = (folder_ / "program").string();
        std::ofstream(program)
            << "#!/bin/sh\nfor argument; do case \"$argument\" in "
               "--benchmark_out=*) out=${argument#--benchmark_out=};; esac; done\n"
               "cat > \"$out\" <<'END'\n{\"benchmarks\": ["
            << entries << "]}\nEND\n";
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        sample_.spec.experiment = std::string(benchmark_experiment);
        sample_.spec.variant = "program";
        sample_.spec.provenance = Provenance::measured;
        sample_.spec.axes = benchmark_case({.name = "b", .program = program, .arguments = {}});
        sample_.spec.scratch = folder_.path().string();
        MemoryRecorder recorder;
        make_benchmark_system().experiments.at(0).run(sample_.spec, recorder);
        for (const auto& metric : recorder.metrics) {
            std::string name = metric.name;
            for (const auto& [label, value] : metric.labels) name += ' ' + to_string(value);
            values[name] = metric.value;
        }
        for (const auto& event : recorder.events)
            sample_.events.push_back(
                {.t_s = event.t_s, .kind = event.kind, .detail = event.detail});
    }

    /// "BENCHMARK: skipped: why"
    std::vector<std::string> not_run() const {
        std::vector<std::string> all;
        for (const NotRunPart& part : parts_not_run(sample_))
            all.push_back(to_string(part.labels.at("benchmark")) +
                          (part.counter.empty() ? "" : ' ' + part.counter) +
                          (part.skipped ? ": skipped: " : ": failed: ") + part.reason);
        return all;
    }

    std::map<std::string, double> values;

  private:
    assay::testing::TemporaryFolder folder_;
    store::Sample sample_;
};

TEST(BenchmarkExperiment, TwoBenchmarksOfOneNameStayApart) {
    const BenchmarkSample sample(
        R"({"name": "BM", "family_index": 0, "per_family_instance_index": 0, "real_time": 2},
           {"name": "BM", "family_index": 0, "per_family_instance_index": 0, "real_time": 1},
           {"name": "BM", "family_index": 1, "per_family_instance_index": 0, "real_time": 9})");
    EXPECT_EQ(sample.values, (std::map<std::string, double>{{"real_time BM (1 of 2)", 1e-9},
                                                            {"real_time BM (2 of 2)", 9e-9}}));
}

TEST(BenchmarkExperiment, CountersAreThoseOfTheFastestRepetition) {
    const BenchmarkSample sample(
        R"({"name": "BM", "real_time": 2, "cpu_time": 2, "GFLOPS": 8, "of_read": 0.9, "failed": 0},
           {"name": "BM", "real_time": 1, "cpu_time": 1, "GFLOPS": 7, "of_read": NaN, "failed": 1})");
    EXPECT_EQ(sample.values, (std::map<std::string, double>{{"real_time BM", 1e-9},
                                                            {"GFLOPS BM", 7},
                                                            {"of_read BM", 0.9},
                                                            {"counter:failed BM", 1}}));
    const BenchmarkSample odd(R"({"name": "BM", "real_time": 2, "of_read": NaN, "GFLOPS": -inf})");
    EXPECT_EQ(odd.values,
              (std::map<std::string, double>{
                  {"real_time BM", 2e-9}, {"failed BM of_read", 1}, {"failed BM GFLOPS", 1}}));
    EXPECT_THAT(odd.not_run(), ElementsAre("BM of_read: failed: its of_read is NaN",
                                           "BM GFLOPS: failed: its GFLOPS is -Infinity"));
}

TEST(BenchmarkExperiment, WhatDidNotRunSaysWhy) {
    const BenchmarkSample sample(
        R"({"name": "BM", "real_time": 2},
           {"name": "BM_nan", "real_time": NaN},
           {"name": "BM_gpu", "skipped": true, "skip_message": "no device"},
           {"name": "BM_bad", "error_occurred": true, "error_message": "no memory"})");
    EXPECT_EQ(sample.values,
              (std::map<std::string, double>{
                  {"real_time BM", 2e-9}, {"failed BM_bad", 1}, {"failed BM_nan", 1}}));
    EXPECT_THAT(sample.not_run(),
                ElementsAre("BM_bad: failed: no memory", "BM_gpu: skipped: no device",
                            "BM_nan: failed: its real_time is NaN"));
}

/// What a script recorded that is started with these arguments, by metric and benchmark.
std::map<std::string, double> recorded_of(const std::string& script, SuiteBenchmark benchmark) {
    const assay::testing::TemporaryFolder folder;
    benchmark.name = "b";
    benchmark.program = folder.path() / "program";
    std::ofstream(benchmark.program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(benchmark.program, std::filesystem::perms::owner_all);
    SampleSpec spec;
    spec.experiment = std::string(benchmark_experiment);
    spec.variant = "program";
    spec.provenance = Provenance::measured;
    spec.axes = benchmark_case(benchmark);
    spec.scratch = folder.path().string();
    MemoryRecorder recorder;
    make_benchmark_system().experiments.at(0).run(spec, recorder);
    std::map<std::string, double> values;
    for (const auto& metric : recorder.metrics)
        values[metric.name + ' ' + to_string(metric.labels.at("benchmark"))] = metric.value;
    return values;
}

TEST(BenchmarkExperiment, AProgramOfAnotherToolSaysWhereItsResultsGo) {
    constexpr const char* writes_a_file =
        "[ $# = 3 ] && echo '{\"results\": [{\"command\": \"x\", \"times\": [3, 2, 4]}]}' > "
        "\"${2#to=}\"\n";
    const std::map<std::string, double> fastest{{"real_time x", 2}};
    SuiteBenchmark benchmark{.program = {}, .arguments = {"--export-json", "to={out}", "a b"}};
    EXPECT_EQ(recorded_of(writes_a_file, benchmark), fastest) << "recognised";
    benchmark.from = "hyperfine";
    EXPECT_EQ(recorded_of(writes_a_file, benchmark), fastest);
    benchmark.from = "vllm";
    EXPECT_THROW(recorded_of(writes_a_file, benchmark), UserError);
}

TEST(BenchmarkExperiment, WithoutOutItsStandardOutputIsRead) {
    SuiteBenchmark benchmark{.program = {}, .arguments = {"-o", "json"}, .from = "llama-bench"};
    EXPECT_EQ(
        recorded_of("[ \"$*\" = '-o json' ] && echo '[{\"n_prompt\": 8, \"n_gen\": 0, "
                    "\"avg_ts\": 1, \"samples_ns\": [2, 1], \"samples_ts\": [5, 10]}]'\n",
                    benchmark),
        (std::map<std::string, double>{{"real_time pp8", 1e-9}, {"tokens_per_second pp8", 10}}))
        << "the highest rate";
}

TEST(BenchmarkExperiment, DirectionsOfAToolsMetricsAreKnown) {
    SuiteFile suite;
    suite.benchmarks.push_back(
        {.name = "b", .program = "x", .arguments = {}, .from = "nccl-tests"});
    const auto stated = stated_directions(suite);
    ASSERT_EQ(stated.size(), 2u);
    EXPECT_EQ(stated[1].name + ' ' + stated[1].unit, "bus_bw GB/s");
    EXPECT_EQ(stated[1].better, Direction::higher);
}

TEST(BenchmarkExperiment, ANameMeansNoFileOfTheFolder) {
    const auto missing = [](const std::string& program) {
        SuiteFile suite;
        suite.benchmarks.push_back({.name = "b", .program = program, .arguments = {}});
        return missing_programs(suite);
    };
    const assay::testing::TemporaryFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    std::ofstream("assay_here_only") << "#!/bin/sh\n";
    std::filesystem::permissions("assay_here_only", std::filesystem::perms::owner_all);
    EXPECT_THAT(missing("assay_here_only"),
                ElementsAre(HasSubstr("nor in PATH; for the file here write ./assay_here_only")));
    EXPECT_TRUE(missing("./assay_here_only").empty());
    EXPECT_THAT(missing("assay_nowhere"), ElementsAre(HasSubstr("nor in PATH; is it built?")));
    std::filesystem::current_path(before);
}

TEST(BenchmarkExperiment, ProgramsThatCanBeBuiltComeWithTheCommandThatBuildsThem) {
    const assay::testing::TemporaryFolder folder;
    const std::filesystem::path build = folder.path() / "my build";
    std::filesystem::create_directories(build / "CMakeFiles");
    std::ofstream(build / "CMakeFiles/TargetDirectories.txt")
        << "/tree/suite/CMakeFiles/assay_a_benchmark.dir\n/tree/CMakeFiles/assay_b_benchmark.dir\n";
    SuiteFile suite;
    for (const char* program : {"assay_b_benchmark", "assay_a_benchmark", "assay_b_benchmark"})
        suite.benchmarks.push_back({.name = "n", .program = program, .arguments = {}});
    EXPECT_THAT(missing_programs(suite, build),
                ElementsAre("benchmark/n: assay_b_benchmark is not built yet",
                            "benchmark/n: assay_a_benchmark is not built yet",
                            "benchmark/n: assay_b_benchmark is not built yet",
                            "`cmake --build '" + build.string() +
                                "' --target assay_b_benchmark assay_a_benchmark` builds them"));
    suite.benchmarks = {{.name = "n", .program = "assay_c_benchmark", .arguments = {}}};
    EXPECT_THAT(missing_programs(suite, build), ElementsAre(HasSubstr("neither beside assay")));
}

TEST(BenchmarkExperiment, ASuiteStatesTheDirectionsOfCounters) {
    const auto suite = [](const std::string& a, const std::string& b) {
        return parse_suite("name = \"s\"\n[[benchmark]]\nname = \"a\"\nprogram = \"x\"\nbetter = " +
                               a + "\n[[benchmark]]\nname = \"b\"\nprogram = \"x\"\nbetter = " + b,
                           "s.toml");
    };
    const auto units = stated_directions(
        suite(R"({ GFLOPS = "higher", of_read = "higher" })", R"({ "a b" = "lower" })"));
    ASSERT_EQ(units.size(), 2u);
    EXPECT_EQ(units[0].name, "GFLOPS");
    EXPECT_EQ(units[0].better, Direction::higher);
    EXPECT_EQ(units[1].better, Direction::lower);
    EXPECT_THROW(stated_directions(suite(R"({ GFLOPS = "higher" })", R"({ GFLOPS = "lower" })")),
                 UserError);
    EXPECT_THROW(stated_directions(suite(R"({ real_time = "higher" })", "{}")), UserError);
    for (const char* wrong :
         {R"({ GFLOPS = "more" })", "{ GFLOPS = 1 }", "3", R"({ GFLOPS = "none" })"})
        EXPECT_THROW(suite(wrong, "{}"), UserError) << wrong;
}

}  // namespace
}  // namespace assay::gate
