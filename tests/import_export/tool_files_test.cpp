// Files of benchmark tools: those in tools/ were written by the tools, others after their
// documentation.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "suite/base/error.hpp"
#include "suite/import_export/import.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"
#include "suite/store/ids.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::import_export::testing {
namespace {

using store::Access;
using store::Store;
using store::testing::Folder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text_of(const std::string& name) {
    std::ifstream in(ASSAY_TOOL_FILES "/" + name, std::ios::binary);
    EXPECT_TRUE(in) << name;
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string refusal(std::string_view text, std::string_view format = {}) {
    try {
        read_benchmark_file(text, "f.json", format);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

/// "NAME: METRIC UNIT WAY VALUE, …" or "NAME: STATUS, REASON" of each repetition.
std::vector<std::string> lines_of(const BenchmarkFile& file) {
    std::vector<std::string> lines;
    for (const BenchmarkRepetition& each : file.repetitions) {
        std::string line = each.full_name() + ':';
        if (each.status != "ok") line += ' ' + each.status + ", " + each.reason;
        for (const BenchmarkMetric& metric : each.metrics)
            line += fmt::format("{} {} {} {} {:.6g}", line.ends_with(':') ? "" : ",", metric.name,
                                metric.unit, to_string(metric.better), metric.value);
        lines.push_back(line);
    }
    return lines;
}

std::vector<std::string> lines_of(std::string_view text) {
    return lines_of(read_benchmark_file(text, "f.json"));
}

TEST(ToolFiles, HyperfineItself) {
    const BenchmarkFile file = read_benchmark_file(text_of("hyperfine.json"), "f.json");
    EXPECT_EQ(file.tool, "hyperfine");
    const auto lines = lines_of(file);
    ASSERT_EQ(lines.size(), 12u);
    EXPECT_EQ(lines.front(), "sleep 0.01 n=0.01: real_time s lower 0.0111126");
    EXPECT_EQ(file.repetitions.back().round, 5);
}

TEST(ToolFiles, RunsOfHyperfineThatFailedAreFailures) {
    EXPECT_THAT(
        lines_of(R"({"results": [{"command": "x", "times": [1, 2, 3], "exit_codes": [0, 1, null],
                     "memory_usage_byte": [5, 6, 7]}]})"),
        ElementsAre("x: real_time s lower 1, memory_usage B lower 5", "x: failed, exit code 1",
                    "x: failed, killed by a signal"));
    EXPECT_EQ(refusal(R"({"results": [{"command": "x", "mean": 1}]})"),
              "f.json: not hyperfine's JSON: 'x' has no times; write the file with --export-json "
              "FILE");
}

TEST(ToolFiles, PytestBenchmarkItself) {
    const BenchmarkFile file = read_benchmark_file(text_of("pytest_benchmark.json"), "f.json");
    EXPECT_EQ(file.tool, "pytest-benchmark");
    ASSERT_EQ(file.repetitions.size(), 18u);
    EXPECT_EQ(file.repetitions[0].full_name(), "test_small.py::test_sort size=100");
    EXPECT_EQ(file.repetitions[12].full_name(), "test_small.py::test_sum");
    EXPECT_EQ(file.machine.at("cpu"), "AMD EPYC");
    EXPECT_EQ(file.machine.at("num_cpus"), 2);
    EXPECT_EQ(file.context.at("host_name"), "node1");
    ASSERT_TRUE(file.started);
    EXPECT_EQ(file.commit, "") << "unversioned";
}

TEST(ToolFiles, PytestBenchmarkOfACommitAndWithoutRounds) {
    const BenchmarkFile file = read_benchmark_file(
        R"({"machine_info": {"node": "box"}, "commit_info": {"id": "ffff", "dirty": true},
            "datetime": "2026-11-20T02:00:00.250000", "benchmarks": [
              {"fullname": "t.py::f", "stats": {"mean": 0.5, "stddev": 0.1}},
              {"fullname": "t.py::g[a-b]", "param": "a-b", "params": {"x": "a"},
               "stats": {"data": [NaN, 1]}}]})",
        "f.json");
    EXPECT_EQ(file.commit, "ffff-dirty");
    EXPECT_EQ(store::utc(file.started.value()), "2026-11-20T02:00:00.250Z") << "UTC, unsaid";
    EXPECT_THAT(lines_of(file),
                ElementsAre("t.py::f: mean_time s lower 0.5, stddev_time s none 0.1",
                            "t.py::g x=a: failed, its real_time is NaN",
                            "t.py::g x=a: real_time s lower 1"));
}

TEST(ToolFiles, ReFrameItselfWithTwoNights) {
    const BenchmarkFile file = read_benchmark_file(text_of("reframe.log"), "stream_copy.log");
    EXPECT_EQ(file.tool, "reframe");
    const auto lines = lines_of(file);
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[0],
              "stream_copy environ=builtin partition=default size=64 system=generic: copy_bw MB/s "
              "higher 864, latency us lower 2.5");
    EXPECT_THAT(file.days(), ElementsAre("2026-11-28", "2026-11-28", "2026-11-29", "2026-11-29"));
}

TEST(ToolFiles, ReFramesReferenceSaysWhichWayIsBetter) {
    const std::string header =
        "result|job_completion_time|name|a_value|a_unit|a_ref|a_lower_thres|a_upper_thres\n";
    EXPECT_THAT(lines_of(header + "pass|2026-11-20T02:00:00+00:00|t|5|widgets|5|-0.1|None\n"
                                  "pass|2026-11-20T02:00:00+00:00|t|6|widgets|5|None|0.1\n"
                                  "fail|2026-11-20T02:00:00+00:00|t|null|widgets|5|None|0.1\n"),
                ElementsAre(HasSubstr(": a widgets higher 5"), HasSubstr(": a widgets lower 6"),
                            HasSubstr(": failed, no value; its result is fail")));
    EXPECT_THAT(refusal(header + "pass|t\n"), HasSubstr("line 2 has 2 fields, the header 8"));
    EXPECT_THAT(lines_of(header + "pass|2026-11-20T02:00:00Z|t|5|MB/s|5||\n"
                                  "pass|2026-11-20T02:00:00Z|t|5|GB/s|5||\n"),
                ElementsAre(HasSubstr("a MB/s higher 5"), HasSubstr("a MB/s higher 5000")));
}

TEST(ToolFiles, CriterionNamesItsBenchmarkBesideTheSamples) {
    Folder folder;
    const auto write = [&](const std::string& name, const char* benchmark) {
        const auto place = folder.path() / "criterion" / name / "new";
        std::filesystem::create_directories(place);
        std::ofstream(place / "sample.json")
            << R"({"sampling_mode": "Linear", "iters": [2, 4], "times": [20, 48]})";
        if (benchmark) std::ofstream(place / "benchmark.json") << benchmark;
        return place / "sample.json";
    };
    const auto named = write("x/y/20", R"({"group_id": "fib", "function_id": "fast",
                                            "value_str": "20", "throughput": null})");
    write("plain", nullptr);
    BenchmarkFile file = read_benchmark_file(
        R"({"sampling_mode": "Linear", "iters": [2, 4], "times": [20, 48]})", named.string());
    EXPECT_THAT(lines_of(file), ElementsAre("fib/fast value=20: real_time s lower 1e-08",
                                            "fib/fast value=20: real_time s lower 1.2e-08"));
    file = read_benchmark_folder(folder.path());
    ASSERT_EQ(file.repetitions.size(), 4u);
    EXPECT_EQ(file.repetitions[0].full_name(), "plain");
    auto store = Store::open(folder / "a.db", Access::write);
    EXPECT_EQ(import_file(store, folder.path() / "criterion").samples, 4);
    EXPECT_EQ(store.sessions().size(), 1u) << "one run";
    EXPECT_THROW(read_benchmark_folder(folder.path() / "criterion/plain/new/none"), std::exception);
}

std::string nvbench(const std::string& state) {
    return R"({"devices": [{"id": 0, "name": "H200"}], "benchmarks": [{"name": "copy", "states": [
        {"device": 0, "axis_values": [{"name": "Elements", "type": "int64", "value": "1024"},
                                      {"name": "T", "type": "string", "value": "I32"}], )" +
           state + "}]}]}";
}

TEST(ToolFiles, NvbenchWithoutSamplesHasItsMeanAndNoiseSoCalled) {
    const std::string text = nvbench(R"("is_skipped": false, "summaries": [
        {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": "2e-05"}]},
        {"tag": "nv/cold/time/gpu/stdev/relative", "data": [{"name": "value", "value": "0.01"}]},
        {"tag": "nv/cold/bw/global/bytes_per_second", "data": [{"name": "value", "value": 5e9}]}])");
    const BenchmarkFile file = read_benchmark_file(text, "f.json");
    EXPECT_EQ(file.machine.at("gpus").dump(), R"(["H200"])");
    EXPECT_THAT(lines_of(file),
                ElementsAre("copy Elements=1024 T=I32: mean_gpu_time s lower 2e-05, gpu_time_noise "
                            "share none 0.01, bytes_per_second B/s higher 5e+09"));
    EXPECT_THAT(lines_of(nvbench(R"("is_skipped": true, "skip_reason": "too large")")),
                ElementsAre("copy Elements=1024 T=I32: unsupported, too large"));
    EXPECT_THAT(lines_of(nvbench(R"("is_skipped": false, "summaries": null)")),
                ElementsAre(HasSubstr("failed, the file has no value of it")));
}

TEST(ToolFiles, NvbenchsSamplesLieBesideIt) {
    Folder folder;
    const std::string text = nvbench(R"("is_skipped": false, "summaries": [
        {"tag": "nv/json/bin:nv/cold/sample_times", "hint": "file/sample_times", "data": [
          {"name": "filename", "type": "string", "value": "elsewhere/out.json-bin/0.bin"},
          {"name": "size", "type": "int64", "value": "2"}]}])");
    EXPECT_THAT(refusal(text), HasSubstr("not beside it: elsewhere/out.json-bin/0.bin"));
    std::filesystem::create_directory(folder.path() / "out.json-bin");
    const unsigned char floats[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40};  // 1 and 2
    std::ofstream(folder.path() / "out.json-bin/0.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(floats), sizeof floats);
    EXPECT_THAT(lines_of(read_benchmark_file(text, (folder.path() / "out.json").string())),
                ElementsAre("copy Elements=1024 T=I32: gpu_time s lower 1",
                            "copy Elements=1024 T=I32: gpu_time s lower 2"));
}

TEST(ToolFiles, WrongElementsFailTheRowOfNcclTests) {
    const BenchmarkFile file = read_benchmark_file(
        R"({"version": 2, "start_time": "2026-11-20 02:00:00", "nccl_version": 22903,
            "args": ["/x/all_reduce_perf", "-b", "8"], "env": ["SECRET=1"],
            "config": {"nthreads": 1, "ngpus": 2,
                       "devices": [{"hostname": "n1", "device_info": "H200"}]},
            "results": [{"size": 8, "type": "float", "redop": "sum", "root": "    -1",
              "out_of_place": {"time": 12.5, "alg_bw": 1.5, "bus_bw": 2.5, "nwrong": 0},
              "in_place": {"time": 12.5, "alg_bw": 1.5, "bus_bw": 2.5, "nwrong": 3}},
             {"size": 16, "out_of_place": null,
              "in_place": {"time": 1, "alg_bw": 1, "bus_bw": 2, "nwrong": null},
              "in_place_per_iter": {"times_us": [10, 20]}}]})",
        "f.json");
    EXPECT_EQ(file.tool, "nccl-tests");
    EXPECT_EQ(file.suspects().dump().find("SECRET"), std::string::npos);
    EXPECT_THAT(
        lines_of(file),
        ElementsAre("all_reduce_perf ngpus=2 nthreads=1 place=out_of_place redop=sum root=    -1 "
                    "size=8 type=float: real_time s lower 1.25e-05, alg_bw GB/s higher 1.5, bus_bw "
                    "GB/s higher 2.5",
                    HasSubstr("failed, #wrong is 3"), HasSubstr("real_time s lower 1e-05"),
                    HasSubstr("real_time s lower 2e-05")));
}

TEST(ToolFiles, LlamaBenchAsAnArrayAndAsLines) {
    const std::string test =
        R"({"build_commit": "8cf427ff", "build_number": 5163, "cpu_info": "Ryzen", "gpu_info": "",
            "backends": "CPU", "model_type": "qwen2", "n_threads": 8, "n_prompt": 512, "n_gen": 0,
            "test_time": "2025-04-24T11:58:50Z", "avg_ts": 7.5, "samples_ns": [100, 200],
            "samples_ts": [10, 5]})";
    std::string line = test;
    line.erase(std::remove(line.begin(), line.end(), '\n'), line.end());
    for (const std::string& text : {"[" + test + "]", line, line + '\n' + line + "\r\n"}) {
        const BenchmarkFile file = read_benchmark_file(text, "f.json");
        EXPECT_EQ(file.tool, "llama-bench");
        EXPECT_EQ(file.commit, "8cf427ff");
        EXPECT_EQ(lines_of(file).front(),
                  "pp512 model_type=qwen2 n_threads=8: tokens_per_second 1/s higher 10, real_time "
                  "s lower 1e-07");
        EXPECT_EQ(store::utc(file.repetitions[0].started.value()), "2025-04-24T11:58:50.000Z");
    }
    EXPECT_EQ(refusal(line + "\n{\"avg_ts\": }"),
              "f.json:2:12: not valid JSON: syntax error while parsing value - unexpected '}'; "
              "expected '[', '{', or a literal");
}

TEST(ToolFiles, FailedRequestsFailARunOfVllm) {
    const std::string good =
        R"({"date": "20261120-020000", "backend": "vllm", "model_id": "m", "num_prompts": 100, "request_rate": "inf", "completed": 100, "failed": 0, "request_throughput": 5, "mean_ttft_ms": 20, "std_ttft_ms": 2, "ttfts": [0.1]})";
    const std::string bad =
        R"({"date": "20261121-020000", "backend": "vllm", "model_id": "m", "num_prompts": 100, "request_rate": "inf", "completed": 97, "request_throughput": 5, "errors": ["", "Connection reset"]})";
    const BenchmarkFile file = read_benchmark_file(good + '\n' + bad, "f.jsonl");
    EXPECT_EQ(file.tool, "vllm");
    EXPECT_THAT(lines_of(file),
                ElementsAre("vllm bench serve backend=vllm model_id=m num_prompts=100 "
                            "request_rate=inf: mean_ttft_ms ms lower 20, request_throughput 1/s "
                            "higher 5, std_ttft_ms ms none 2",
                            HasSubstr("failed, 3 of 100 requests failed: Connection reset")));
    EXPECT_EQ(file.days().size(), 2u);
    EXPECT_NE(file.days()[0], file.days()[1]);
}

TEST(ToolFiles, AnImpossibleDateIsRefusedWithItsPlace) {
    const auto dated = [](const std::string& date) {
        return R"({"context": {
 "date": ")" + date +
               R"("}, "benchmarks": [{"name": "x", "real_time": 1}]})";
    };
    EXPECT_EQ(refusal(dated("2026-10-25T25:00:00+00:00")),
              "f.json:2:11: the date '2026-10-25T25:00:00+00:00': there is no hour 25");
    EXPECT_THAT(refusal(dated("2026-10-25T02:61:00Z")), HasSubstr("no minute 61"));
    EXPECT_THAT(refusal(dated("2026-10-25T02:00:00+99:99")), HasSubstr("no offset of hours 99"));
    const auto started = [&](const std::string& date) {
        return store::utc(read_benchmark_file(dated(date), "f").started.value());
    };
    EXPECT_EQ(started("2026-10-25T02:00:00+0530"), "2026-10-24T20:30:00.000Z");
    EXPECT_EQ(started("2026-10-25T02:00:00.123+00:00"), "2026-10-25T02:00:00.123Z");
    EXPECT_EQ(started("2026-10-25T02:00:00.987654+00:00"), "2026-10-25T02:00:00.987Z");
}

TEST(ToolFiles, WhatIsNotReadSaysWhatIs) {
    EXPECT_THAT(refusal(R"({"results": 1})"),
                AllOf(StartsWith("f.json: no results that are read; those of these tools are: "),
                      HasSubstr("hyperfine (--export-json FILE)"), HasSubstr("vllm")));
    EXPECT_THAT(refusal(text_of("hyperfine.json"), "criterion"),
                HasSubstr("not Criterion's sample.json"));
    EXPECT_THAT(refusal("{}", "hyper"),
                HasSubstr("no format is called 'hyper'; there are nvbench"));
    EXPECT_THAT(refusal("{}", "vllm"), HasSubstr("not vLLM's serving benchmark"));
}

TEST(ToolFiles, AnImportIsComparedWithTheNextAndKnowsItsDirections) {
    Folder folder;
    auto store = Store::open(folder / "a.db", Access::write);
    const auto imported = import_file(store, ASSAY_TOOL_FILES "/hyperfine.json");
    EXPECT_EQ(imported.samples, 12);
    EXPECT_THAT(imported.notes, ElementsAre(HasSubstr("--machine NAME tells machines apart"),
                                            HasSubstr("when it was last written stands for it")));
    EXPECT_EQ(import_file(store, ASSAY_TOOL_FILES "/hyperfine.json").samples, 0);
    EXPECT_EQ(store.metric_units("benchmark/sleep 0.01").at(0).better, Direction::lower);
    EXPECT_EQ(import_file(store, ASSAY_TOOL_FILES "/reframe.log", {.machine = "lab"}).sessions, 2);
    EXPECT_EQ(store.sessions().size(), 3u);
    EXPECT_EQ(store.newest_samples("benchmark/stream_copy").at(0).spec.axes.at("environ"),
              Value("builtin"));
    EXPECT_TRUE(store.check().ok);
}

TEST(ToolFiles, ALauncherIsNotWhatItMeasures) {
    for (const char* launcher : {"{from:hyperfine} --export-json {out} x", "{from:reframe} -r",
                                 "--export-json {out} x", "{from:vllm}"})
        EXPECT_TRUE(is_launcher(launcher)) << launcher;
    for (const char* program : {"", "--benchmark_filter=x", "{from:nvbench} --jsonbin {out}",
                                "{from:google-benchmark}", "{from:llama-bench} -o json"})
        EXPECT_FALSE(is_launcher(program)) << program;
}

/// The files of the page's commands are those in tools/.
TEST(ToolFiles, EveryCommandOfThePageAddsSamples) {
    std::ifstream page(ASSAY_OTHER_TOOLS_PAGE);
    Folder folder;
    auto store = Store::open(folder / "a.db", Access::write);
    std::set<std::string> files;
    for (std::string line; std::getline(page, line);)
        if (constexpr std::string_view command = "assay import "; line.starts_with(command))
            files.insert(line.substr(command.size()));
    EXPECT_EQ(files.size(), 9u);
    for (const std::string& file : files)
        EXPECT_GT(import_file(store, std::string(ASSAY_TOOL_FILES "/") + file).samples, 0) << file;
    EXPECT_TRUE(store.check().ok);
    EXPECT_EQ(store.newest_samples("benchmark/copy").size(), 3u) << "with samples beside the file";
    EXPECT_EQ(store.unsuccessful_samples("benchmark/copy").at(0).reason,
              "too large for this device");
    EXPECT_EQ(store.newest_samples("benchmark/fib").at(0).spec.axes.at("value"),
              Value(std::int64_t{20}));
}

TEST(ToolFiles, ARefusedFileIsNotStagedAndAnEmptyOneHasNoSample) {
    Folder folder;
    std::ofstream(folder / "e.csv") << "experiment,metric,value\n";
    std::ofstream(folder / "b.db") << "SQLite format 3, but none";
    for (const char* file : {"e.csv", "b.db"})
        EXPECT_ANY_THROW(ArrivedFile(folder / file, {}, nullptr)) << file;
}

}  // namespace
}  // namespace assay::import_export::testing
