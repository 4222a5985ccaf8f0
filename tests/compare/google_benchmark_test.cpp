// Google Benchmark's files: real ones of two runs of one program, and made ones for what may be in
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "suite/base/error.hpp"
#include "suite/compare/compare.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/compare/warnings.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::compare {
namespace {

using ::testing::ElementsAre;
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
    ASSERT_EQ(arm.series.size(), 4u) << "real and CPU time of two benchmarks";
    const Series& first = arm.series[0];
    EXPECT_EQ(first.name.series_text(), "benchmark/empty_region/threads:1/items:2/real_time");
    EXPECT_EQ(first.name.metric, "real_time");
    EXPECT_EQ(arm.series[1].name.series_text(), first.name.series_text());
    EXPECT_EQ(arm.series[1].name.metric, "cpu_time");
    EXPECT_DOUBLE_EQ(arm.series[1].points.at(0).value, 27501.000000000087e-9);
    ASSERT_EQ(arm.sessions.size(), 1u);
    EXPECT_EQ(arm.sessions[0].warnings, "load") << "15.9 on two processors";
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
            if (series.name.experiment != "benchmark/" + entry["run_name"].get<std::string>())
                continue;
            std::vector<double> values;
            for (const Point& point : series.points) values.push_back(point.value);
            const double median = entry[series.name.metric];
            EXPECT_NEAR(statistics::median(values) / (median * 1e-9), 1, 1e-12);
            ++checked;
        }
    }
    EXPECT_EQ(checked, 4) << "real and CPU time of two benchmarks";
}

TEST(GoogleBenchmark, TwoRealRunsCompareUnpaired) {
    const Arm a = read_google_benchmark(content("worker_pool_a.json"), "a");
    const Arm b = read_google_benchmark(content("worker_pool_b.json"), "b");
    const auto rows = compare(a, b);
    ASSERT_EQ(rows.size(), 4u);
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
        EXPECT_EQ(row.verdict, RowVerdict::same) << row.reason;
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

/// Real time above zero, CPU time not: of what only sleeps, or of a clock that was not read.
TEST(GoogleBenchmark, ATimeOfZeroIsNotComparable) {
    const auto with_cpu_time = [](double ns) {
        std::vector<std::string> entries;
        for (int i = 0; i < 7; ++i)
            entries.push_back(fmt::format(
                R"("real_time": {}, "cpu_time": {}, "items_per_second": 0)", 100 + 0.01 * i, ns));
        return read_google_benchmark(file_of(entries), "x");
    };
    const Arm some = with_cpu_time(90), none = with_cpu_time(0);
    for (const auto& [a, b, told] :
         {std::tuple(&some, &none, "7 of 7 values of B:"),
          std::tuple(&none, &some, "7 values of A:"),
          std::tuple(&none, &none, "7 of 7 values of A and 7 of 7 values of B:")}) {
        const auto rows = compare(*a, *b);
        for (const Row& row : rows) {
            if (row.id.metric != "cpu_time") {
                EXPECT_EQ(row.verdict, RowVerdict::same) << row.id.metric;
                continue;
            }
            EXPECT_EQ(row.verdict, RowVerdict::not_comparable);
            EXPECT_THAT(row.reason, HasSubstr("not-positive: cpu_time is not above zero in "));
            EXPECT_THAT(row.reason, HasSubstr(told));
        }
    }
    // Of other metrics zero is a value, such as steps lost.
    EXPECT_EQ(compare(some, some).size(), 3u);
}

TEST(GoogleBenchmark, WhatFailsSaysWhy) {
    const auto failing = [](const std::string& message) {
        return read_google_benchmark(
            file_of({R"("error_occurred": true, "error_message": ")" + message + '"',
                     R"("error_occurred": true, "error_message": ")" + message + '"',
                     R"("error_occurred": true, "error_message": "other")"}),
            "x");
    };
    const Arm good = read_google_benchmark(file_of({R"("real_time": 5)"}), "x");
    const Arm bad = failing("cannot open /dev/nvidia0"), long_one = failing(std::string(300, 'y'));
    const Row row = compare(good, bad).at(0);
    EXPECT_EQ(
        row.reason,
        "all-failed: all 3 samples of B failed (cannot open /dev/nvidia0, and another error)");
    EXPECT_EQ(row.errors, (std::vector<std::string>{"B: cannot open /dev/nvidia0", "B: other"}));
    EXPECT_LT(compare(good, long_one).at(0).reason.size(), 200u) << "shortened";
    EXPECT_EQ(compare(good, long_one).at(0).errors.at(0).size(), 303u) << "whole";
    // Where others of them ran, too.
    const Arm partly = read_google_benchmark(
        file_of({R"("real_time": 5)", R"("error_occurred": true, "error_message": "no memory")"}),
        "x");
    const Row some = compare(good, partly).at(0);
    EXPECT_THAT(some.reason, HasSubstr("1 failed in B (no memory)"));
    EXPECT_THAT(some.warnings.at(0), HasSubstr("; B says: no memory"));
}

TEST(GoogleBenchmark, AggregatesOfOldFilesAreKnownByTheirNames) {
    const Arm arm = read_google_benchmark(
        R"({"benchmarks": [{"name": "B", "real_time": 1}, {"name": "B_mean", "real_time": 1}]})",
        "x");
    ASSERT_EQ(arm.series.size(), 1u) << "B_mean is of B";
    EXPECT_EQ(arm.series[0].points.size(), 1u);
}

TEST(GoogleBenchmark, OnlyAggregatesAreRefusedWithTheFlagToLeaveOut) {
    EXPECT_THAT(refusal(R"({"benchmarks": [{"name": "B_mean", "run_type": "aggregate",
                            "real_time": 1}]})"),
                HasSubstr("--benchmark_report_aggregates_only"));
}

/// Seven repetitions with these times, in ns, and what else an entry says.
Arm timed(double real, double cpu, const std::string& more = "") {
    std::vector<std::string> entries;
    for (int i = 0; i < 7; ++i)
        entries.push_back(fmt::format(R"("real_time": {}, "cpu_time": {}{})", real + 0.01 * i,
                                      cpu + 0.01 * i, more));
    return read_google_benchmark(file_of(entries), "x");
}

const Row& row_of(const std::vector<Row>& rows, const std::string& metric) {
    for (const Row& row : rows)
        if (row.id.metric == metric) return row;
    throw std::logic_error("no row of " + metric);
}

TEST(GoogleBenchmark, CpuTimeAndCountersAreRowsToo) {
    const Arm a = timed(100, 90, R"(, "items_per_second": 5, "depth": 3, "iterations": 10)");
    const Arm b = timed(100, 103, R"(, "items_per_second": 4, "depth": 4, "iterations": 20)");
    const auto rows = compare(a, b);
    ASSERT_EQ(rows.size(), 3u) << "depth has no better direction, iterations are no result";
    EXPECT_EQ(row_of(rows, "real_time").verdict, RowVerdict::same);
    EXPECT_EQ(row_of(rows, "cpu_time").verdict, RowVerdict::slower) << "real time hides it";
    EXPECT_EQ(row_of(rows, "items_per_second").verdict, RowVerdict::slower) << "fewer";
    Options all;
    all.all_metrics = true;
    EXPECT_EQ(compare(a, b, all).size(), 4u);
}

TEST(GoogleBenchmark, TimesThatWentOppositeWaysSayThatTheyDisagree) {
    const Arm a = timed(100, 50), b = timed(53, 57);
    const auto rows = compare(a, b);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(row_of(rows, "real_time").verdict, RowVerdict::faster);
    EXPECT_EQ(row_of(rows, "cpu_time").verdict, RowVerdict::slower);
    for (const Row& row : rows) {
        ASSERT_EQ(row.warnings.size(), 1u);
        EXPECT_THAT(row.warnings[0], HasSubstr("real and CPU time disagree: real_time 47"));
        EXPECT_THAT(row.warnings[0], HasSubstr("cpu_time 14"));
    }
    for (const auto& [left, right] :
         {std::pair(timed(100, 50), timed(90, 45)), std::pair(timed(100, 50), timed(90, 50)),
          std::pair(timed(100, 50), timed(100, 50))})
        for (const Row& row : compare(left, right)) EXPECT_TRUE(row.warnings.empty());
}

TEST(GoogleBenchmark, ACounterNamedAsAFieldReplacesNoTime) {
    // As that library writes it: the counters follow, whatever they are called.
    const Arm arm = read_google_benchmark(
        file_of({R"("iterations": 10, "real_time": 5, "cpu_time": 4, "time_unit": "us",
                    "threads": 1, "real_time": 7, "time_unit": 3, "iterations": 2, "threads": NaN, "odd": NaN, "much": -Infinity,
                    "last": 1)"}),
        "x");
    std::map<std::string, double> values;
    for (const Series& series : arm.series) values[series.name.metric] = series.points.at(0).value;
    EXPECT_TRUE(std::isnan(values["odd"]));
    EXPECT_TRUE(std::isnan(values["counter:threads"]));
    values.erase("odd");
    values.erase("counter:threads");
    EXPECT_EQ(values,
              (std::map<std::string, double>{{"real_time", 5e-6},
                                             {"cpu_time", 4e-6},
                                             {"last", 1},
                                             {"much", -std::numeric_limits<double>::infinity()},
                                             {"counter:real_time", 7},
                                             {"counter:time_unit", 3},
                                             {"counter:iterations", 2}}));
}

TEST(GoogleBenchmark, WhatFailsOnBothSidesFailedBeforeToo) {
    const Arm good = timed(100, 50);
    const Arm bad = read_google_benchmark(file_of({R"("error_occurred": true)"}), "x");
    EXPECT_EQ(compare(bad, bad).at(0).verdict, RowVerdict::failed_before);
    EXPECT_THAT(compare(bad, bad).at(0).reason,
                HasSubstr("the only sample of B failed (the benchmark does not say why), and so it "
                          "was before"));
    for (const Row& row : compare(good, bad)) EXPECT_EQ(row.verdict, RowVerdict::failed);
    for (const Row& row : compare(bad, good)) EXPECT_EQ(row.verdict, RowVerdict::not_comparable);
}

TEST(GoogleBenchmark, WhatHasOnlyAggregatesBesideOthersIsNotForgotten) {
    const std::string mean =
        R"({"name": "M_mean", "run_name": "M", "run_type": "aggregate", "real_time": 1})";
    const Arm arm = read_google_benchmark(
        R"({"benchmarks": [{"name": "B", "real_time": 1}, {"name": "F_BigO", "run_name": "F",
            "run_type": "aggregate", "aggregate_name": "BigO", "real_coefficient": 1}, )" +
            mean + "]}",
        "x");
    ASSERT_EQ(arm.series.size(), 2u);
    EXPECT_EQ(arm.series[1].name.experiment, "benchmark/M");
    EXPECT_EQ(arm.series[1].excluded, 1);
    const Arm both = read_google_benchmark(R"({"benchmarks": [{"name": "B", "real_time": 1},
                                  {"name": "M", "real_time": 1}]})",
                                           "y");
    for (const auto& [a, b, where] :
         {std::tuple(&both, &arm, "in B, the file has"), std::tuple(&arm, &both, "in A, the file"),
          std::tuple(&arm, &arm, "in A and B, the file has")})
        for (const Row& row : compare(*a, *b)) {
            if (row.id.experiment != "benchmark/M") continue;
            EXPECT_EQ(row.verdict, RowVerdict::not_comparable);
            EXPECT_EQ(row.reason_code, Reason::aggregates_only);
            EXPECT_THAT(row.reason, HasSubstr(where));
            EXPECT_THAT(row.reason, HasSubstr("--benchmark_report_aggregates_only"));
        }
    // As that library writes it: what fails is no aggregate, whatever the flag.
    EXPECT_THAT(refusal(R"({"benchmarks": [{"name": "B", "error_occurred": true}, )" + mean + "]}"),
                HasSubstr("without --benchmark_report_aggregates_only"));
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

/// Six repetitions of a benchmark called BM, of which `fields` are part.
std::string six(const std::string& fields, double ns = 100) {
    std::string all;
    for (int i = 0; i < 6; ++i)
        all += fmt::format(
            R"({}{{"name": "BM", "run_type": "iteration", "repetition_index": {}, "real_time": {}{}{}}})",
            i == 0 ? "" : ", ", i, ns + 0.01 * i, fields.empty() ? "" : ", ", fields);
    return all;
}

Arm benchmarks(const std::string& entries) {
    return read_google_benchmark("{\"benchmarks\": [" + entries + "]}", "x");
}

TEST(GoogleBenchmark, TwoBenchmarksOfOneNameStayApart) {
    const std::string first = R"("family_index": 0, "per_family_instance_index": 0)";
    const std::string other = R"("family_index": 3, "per_family_instance_index": 0)";
    const std::string argument = R"("family_index": 3, "per_family_instance_index": 1)";
    const Arm two = benchmarks(six(first) + ", " + six(other));
    const Arm slow = benchmarks(six(first) + ", " + six(other, 1000));
    auto rows = compare(two, slow);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].id.experiment, "benchmark/BM (1 of 2)");
    EXPECT_EQ(rows[0].verdict, RowVerdict::same);
    EXPECT_EQ(rows[1].verdict, RowVerdict::slower);
    // None is taken for the only one of that name.
    for (const Row& row : compare(benchmarks(six(first)), two))
        EXPECT_EQ(row.verdict, RowVerdict::not_comparable) << row.reason;
    EXPECT_EQ(benchmarks(six(first) + ", " + six(other) + ", " + six(argument)).series.size(), 3u);
    // Files before 1.6 do not tell families, but number the repetitions.
    EXPECT_EQ(benchmarks(six("") + ", " + six("", 1000)).series.size(), 2u);
    // Several runs in one file are of one benchmark.
    EXPECT_EQ(benchmarks(six(first) + ", " + six(first)).series.at(0).points.size(), 12u);
}

TEST(GoogleBenchmark, AggregatesOfOneOfTwoOfOneNameAreItsOwn) {
    const Arm arm = benchmarks(six(R"("family_index": 0)") +
                               R"(, {"name": "BM_mean", "run_name": "BM", "run_type": "aggregate",
              "aggregate_name": "mean", "family_index": 1, "real_time": 1})");
    ASSERT_EQ(arm.series.size(), 2u);
    EXPECT_EQ(arm.series[0].name.experiment, "benchmark/BM (1 of 2)");
    EXPECT_TRUE(arm.series[1].aggregates_only);
}

TEST(GoogleBenchmark, WhatIsNoNumberFailsAlone) {
    const std::string good = six(R"("items_per_second": 5)");
    for (const char* odd : {"NaN", "-NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "-inf",
                            "-nan(ind)", "null"}) {
        const Arm arm =
            benchmarks(good + R"(, {"name": "C", "real_time": )" + odd + R"(, "cpu_time": 1})");
        ASSERT_EQ(arm.series.size(), 3u) << odd;
        EXPECT_EQ(arm.series[2].failed, 1) << odd;
        EXPECT_THAT(arm.series[2].errors.at(0), HasSubstr("its real_time is ")) << odd;
        const auto rows = compare(benchmarks(good), arm);
        EXPECT_EQ(rows.at(0).verdict, RowVerdict::same);
        EXPECT_EQ(rows.at(1).verdict, RowVerdict::same);
        EXPECT_THAT(rows.at(2).reason,
                    HasSubstr("only-in-b: the only sample of B failed (its real_time is "));
    }
}

TEST(GoogleBenchmark, CountersThatAreNoNumbersAreNotCompared) {
    const Arm good = benchmarks(six(R"("items_per_second": 5)"));
    const auto row_against = [&](const std::string& entries) {
        const auto rows = compare(good, benchmarks(entries));
        EXPECT_EQ(rows.at(0).verdict, RowVerdict::same) << "the time is none the worse for it";
        return row_of(rows, "items_per_second");
    };
    const Row infinite = row_against(six(R"("items_per_second": Infinity)"));
    EXPECT_EQ(infinite.verdict, RowVerdict::not_comparable);
    EXPECT_THAT(infinite.reason,
                HasSubstr("not-a-number: items_per_second is Infinity in 6 of 6 values of B"));
    std::string half = six(R"("items_per_second": 5)");
    for (int i = 0; i < 3; ++i) half.replace(half.rfind("second\": 5"), 10, "second\": nan");
    const Row some = row_against(half);
    EXPECT_EQ(some.verdict, RowVerdict::not_comparable);
    EXPECT_THAT(some.reason, HasSubstr("NaN in 3 of 6 values of B"));
}

TEST(GoogleBenchmark, CachesThatAreNotKnownAreNotDifferent) {
    const std::string caches = R"([{"type": "Data", "level": 1, "size": 32768, "num_sharing": 1}])";
    const auto with = [&](const std::string& context) {
        return read_google_benchmark(file_of({R"("real_time": 5)"}, context), "x");
    };
    const Arm known = with("{\"caches\": " + caches + ", \"num_cpus\": 4}");
    const Arm unknown = with(R"({"caches": [], "num_cpus": 4})");
    EXPECT_EQ(compare(known, unknown).at(0).reason_code, Reason::too_few);
    EXPECT_THAT(compare(known, unknown).at(0).reason, HasSubstr("context unknown in B: caches"));
    EXPECT_EQ(compare(unknown, known).at(0).reason_code, Reason::too_few);
    auto rows = compare(known, unknown);
    warn_of_circumstances(rows, known, unknown);
    EXPECT_THAT(rows.at(0).warnings,
                ElementsAre(HasSubstr("B does not tell its caches: they may be other ones")));
    EXPECT_EQ(with(R"({"caches": null, "num_cpus": 0, "library_build_type": ""})")
                  .series.at(0)
                  .context.size(),
              3u)
        << "profile, provenance and scenario";
}

TEST(GoogleBenchmark, ADateInTheFutureIsSaid) {
    const auto of = [](const std::string& date) {
        return read_google_benchmark(file_of({R"("real_time": 5)"}, "{\"date\": \"" + date + "\"}"),
                                     "x");
    };
    const auto warnings = [](const Arm& a, const Arm& b) {
        auto rows = compare(a, b);
        warn_of_circumstances(rows, a, b);
        return rows.at(0).warnings;
    };
    EXPECT_THAT(warnings(of("2015-03-17 18:40:51"), of("2140-01-05T10:00:00+01:00")),
                ElementsAre(HasSubstr("B: the file is dated 2140-01-05 09:00, in the future")));
    EXPECT_TRUE(warnings(of("yesterday"), of("03/17/15 18:40:51")).empty());
}

TEST(GoogleBenchmark, AKeyOfTheFileStandsOnce) {
    EXPECT_THAT(refusal("{\"benchmarks\": [],\n\"benchmarks\": []}"),
                HasSubstr("x.json:2:1: the key benchmarks is given twice"));
    EXPECT_THAT(refusal(file_of({R"("real_time": 5)"}, R"({"caches": [{"a": 1}, {"a": 1}],
"num_cpus": 2, "num_cpus": 4})")),
                HasSubstr("x.json:2:16: the key num_cpus is given twice"));
}

}  // namespace
}  // namespace assay::compare
