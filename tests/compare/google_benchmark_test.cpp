// Google Benchmark's files: real ones of two runs of one program, and made ones for what may be in
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "suite/compare/compare.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/experiment/error.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::compare {
namespace {

using ::testing::HasSubstr;

std::string content(const std::string& name) {
    std::ifstream in(std::string(ASSAY_COMPARE_DATA) + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A file of one benchmark "B" with these entries, beyond name and run_type.
std::string file_of(const std::vector<std::string>& entries, const std::string& context = "{}") {
    std::string all;
    for (const std::string& entry : entries)
        all += fmt::format(R"({}{{"name": "B", "run_type": "iteration", {}}})",
                           all.empty() ? "" : ", ", entry);
    return fmt::format(R"({{"context": {}, "benchmarks": [{}]}})", context, all);
}

std::string refusal(const std::string& text) {
    try {
        read_google_benchmark(text, "x.json");
    } catch (const UserError& error) {
        return error.what();
    }
    return "nothing was wrong";
}

TEST(GoogleBenchmark, RepetitionsOfARealRunAreThePoints) {
    const Arm arm = read_google_benchmark(content("worker_pool_a.json"), "worker_pool_a.json");
    ASSERT_EQ(arm.series.size(), 2u);
    const Series& first = arm.series[0];
    EXPECT_EQ(first.name.series_text(), "empty_region/threads:1/items:2/real_time");
    EXPECT_EQ(first.name.metric, "real_time");
    EXPECT_EQ(first.unit, "s");
    EXPECT_EQ(first.better, Direction::lower);
    ASSERT_EQ(first.points.size(), 5u);
    EXPECT_TRUE(first.points[0].pair.empty());
    EXPECT_EQ(first.context.at("num_cpus"), "2");
    EXPECT_EQ(first.context.at("library_build_type"), "debug");
    EXPECT_THAT(first.context.at("caches"), HasSubstr("L1 Data 32768 B shared by 1"));
    for (const char* key : {"host_name", "date", "load_avg", "mhz_per_cpu"})
        EXPECT_FALSE(first.context.contains(key)) << key;
    EXPECT_EQ(arm.suspects.at("executable"), "./kernels_worker_pool_benchmark");
    EXPECT_EQ(arm.suspects.at("host_name"), "host") << "shown where it differs";
    EXPECT_FALSE(arm.suspects.contains("date"));
}

/// The file's own aggregates are an independent reading of the same repetitions.
TEST(GoogleBenchmark, MedianIsTheOneThatTheProgramItselfWrote) {
    const std::string text = content("worker_pool_b.json");
    const Arm arm = read_google_benchmark(text, "b");
    const nlohmann::json file = nlohmann::json::parse(text);
    int checked = 0;
    for (const auto& entry : file["benchmarks"]) {
        if (entry.value("aggregate_name", "") != "median") continue;
        for (const Series& series : arm.series) {
            if (series.name.variant != entry["run_name"]) continue;
            std::vector<double> values;
            for (const Point& point : series.points) values.push_back(point.value);
            const double median = entry["real_time"];
            EXPECT_NEAR(statistics::median(values) / (median * 1e-9), 1, 1e-12);
            ++checked;
        }
    }
    EXPECT_EQ(checked, 2);
}

TEST(GoogleBenchmark, TwoRealRunsCompareUnpaired) {
    const Arm a = read_google_benchmark(content("worker_pool_a.json"), "a");
    const Arm b = read_google_benchmark(content("worker_pool_b.json"), "b");
    const auto rows = compare(a, b);
    ASSERT_EQ(rows.size(), 2u);
    for (const Row& row : rows) {
        EXPECT_THAT(row.reason, HasSubstr("unpaired"));
        EXPECT_EQ(row.n_a, 5);
        EXPECT_EQ(row.n_b, 5);
        EXPECT_LE(row.low, row.ratio);
        EXPECT_GE(row.high, row.ratio);
    }
}

TEST(GoogleBenchmark, UnitsOfTheTwoFilesMayDiffer) {
    const auto file = [](double scale, const char* unit) {
        std::vector<std::string> entries;
        for (const double value : {1.0, 1.001, 1.002, 0.999, 0.998, 1.0005, 0.9995})
            entries.push_back(
                fmt::format(R"("real_time": {}, "time_unit": "{}")", value * scale, unit));
        return read_google_benchmark(file_of(entries), unit);
    };
    const Arm s = file(1, "s"), ms = file(1e3, "ms"), us = file(1e6, "us"), ns = file(1e9, "ns");
    for (const Arm* other : {&ms, &us, &ns}) {
        const Row row = compare(s, *other).at(0);
        EXPECT_EQ(row.unit, "s");
        EXPECT_NEAR(row.ratio, 1, 1e-12) << other->says;
        EXPECT_EQ(row.verdict, Verdict::same) << row.reason;
    }
}

TEST(GoogleBenchmark, NanosecondsWhereNoUnitIsSaid) {
    EXPECT_DOUBLE_EQ(
        read_google_benchmark(file_of({R"("real_time": 5)"}), "x").series.at(0).points.at(0).value,
        5e-9);
}

TEST(GoogleBenchmark, ErrorsFailAndSkippedOnesDoNotCount) {
    const Arm arm = read_google_benchmark(
        file_of({R"("real_time": 5)", R"("error_occurred": true, "error_message": "no")",
                 R"("skipped": true, "skip_message": "no")"}),
        "x");
    EXPECT_EQ(arm.series.at(0).points.size(), 1u);
    EXPECT_EQ(arm.series.at(0).failed, 1);
    EXPECT_EQ(arm.series.at(0).excluded, 1);
}

TEST(GoogleBenchmark, WhatTookNoTimeHasFailed) {
    const Arm arm = read_google_benchmark(
        file_of({R"("real_time": 5)", R"("real_time": 0)", R"("real_time": -1)"}), "x");
    EXPECT_EQ(arm.series.at(0).points.size(), 1u);
    EXPECT_EQ(arm.series.at(0).failed, 2);
}

TEST(GoogleBenchmark, AggregatesOfOldFilesAreKnownByTheirNames) {
    const Arm arm = read_google_benchmark(
        R"({"benchmarks": [{"name": "B", "real_time": 1}, {"name": "B_mean", "real_time": 1}]})",
        "x");
    ASSERT_EQ(arm.series.size(), 1u);
    EXPECT_EQ(arm.series[0].points.size(), 1u);
}

TEST(GoogleBenchmark, OnlyAggregatesAreRefusedWithTheFlagToLeaveOut) {
    EXPECT_THAT(refusal(R"({"benchmarks": [{"name": "B_mean", "run_type": "aggregate",
                            "real_time": 1}]})"),
                HasSubstr("--benchmark_report_aggregates_only"));
}

TEST(GoogleBenchmark, MalformedTextIsRefusedWithItsPlace) {
    EXPECT_THAT(refusal("{\n  \"benchmarks\": [\n    {\"name\": }\n"), HasSubstr("x.json:3:14: "));
    EXPECT_THAT(refusal(""), HasSubstr("x.json:1:1: "));
    EXPECT_THAT(refusal("{\"benchmarks\": [NaN]}"), HasSubstr("x.json:1:17: "));
    EXPECT_THAT(refusal("[1e999]"), HasSubstr("x.json"));
}

TEST(GoogleBenchmark, OtherJsonIsRefusedInWords) {
    for (const char* text :
         {"[]", "{}", R"({"benchmarks": {}})", R"({"benchmarks": []})", R"({"benchmarks": [3]})",
          R"({"benchmarks": [{"real_time": 3}]})", R"({"benchmarks": [{"name": "B"}]})",
          R"({"benchmarks": [{"name": "B", "real_time": "3"}]})",
          R"({"benchmarks": [{"name": "B", "real_time": 3, "time_unit": "h"}]})"})
        EXPECT_THAT(refusal(text), HasSubstr("Google Benchmark")) << text;
}

TEST(GoogleBenchmark, OtherProcessorsAreNotComparedSilently) {
    const std::string entry = R"("real_time": 5)";
    const auto verdict = [&](const std::string& a, const std::string& b) {
        const Arm left = read_google_benchmark(file_of({entry}, a), "a");
        const Arm right = read_google_benchmark(file_of({entry}, b), "b");
        return compare(left, right).at(0).reason_code;
    };
    EXPECT_EQ(verdict(R"({"num_cpus": 2})", R"({"num_cpus": 4})"), Reason::context_differs);
    EXPECT_EQ(verdict(R"({"library_build_type": "debug"})", R"({"library_build_type": "release"})"),
              Reason::context_differs);
    EXPECT_NE(verdict(R"({"library_build_type": "debug"})", "{}"), Reason::context_differs);
    EXPECT_NE(verdict(R"({"host_name": "x", "date": "1", "load_avg": [1]})",
                      R"({"host_name": "y", "date": "2", "load_avg": [2]})"),
              Reason::context_differs);
}

}  // namespace
}  // namespace assay::compare
