// Google Benchmark's JSON becomes a session.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/import_export/import.hpp"
#include "suite/store/ids.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::import_export::testing {
namespace {

using store::Access;
using store::Store;
using store::testing::Folder;

constexpr const char* two_repetitions = R"({
  "context": {"date": "2026-11-21T02:03:04+01:00", "host_name": "node1", "num_cpus": 2,
              "mhz_per_cpu": 2000, "library_build_type": "release"},
  "benchmarks": [
    {"name": "BM_copy/64", "run_type": "iteration", "repetition_index": 0, "iterations": 10,
     "real_time": 12.5, "cpu_time": 11.5, "time_unit": "us", "bytes_per_second": 3e9},
    {"name": "BM_copy/64", "run_type": "iteration", "repetition_index": 1, "iterations": 10,
     "real_time": 13.5, "cpu_time": 12.5, "time_unit": "us", "bytes_per_second": 2e9},
    {"name": "BM_copy/64_mean", "run_type": "aggregate", "real_time": 13, "cpu_time": 12,
     "time_unit": "us"},
    {"name": "BM_gpu", "run_type": "iteration", "error_occurred": true,
     "error_message": "no device"}
  ]})";

TEST(BenchmarkResults, RepetitionsAreSamplesInSeconds) {
    Folder folder;
    std::ofstream(folder / "b.json") << two_repetitions;
    auto store = Store::open(folder / "a.db", Access::write);
    EXPECT_EQ(import_file(store, folder / "b.json").samples, 3);
    EXPECT_EQ(import_file(store, folder / "b.json").samples, 0) << "twice adds nothing";
    ASSERT_EQ(store.sessions().size(), 1u);
    const auto session = store.sessions().at(0);
    EXPECT_EQ(session.started, "2026-11-21T01:03:04.000Z");
    EXPECT_EQ(session.suspects.at("mhz_per_cpu"), 2000);
    EXPECT_EQ(store.machine(session.machine)->description.at("library_build_type"), "release");
    EXPECT_EQ(store::host_of(session.suspects), "node1");
    EXPECT_FALSE(store.machine(session.machine)->description.contains("hostname"))
        << "another host may be such a machine, too";
    const auto copies = store.newest_samples("benchmark/BM_copy/64");
    ASSERT_EQ(copies.size(), 2u);
    std::map<std::string, double> second;
    for (const auto& metric : copies[1].metrics) second[metric.name] = metric.value;
    EXPECT_EQ(copies[1].spec.round, 1);
    EXPECT_EQ(second,
              (std::map<std::string, double>{
                  {"real_time", 13.5e-6}, {"cpu_time", 12.5e-6}, {"bytes_per_second", 2e9}}));
    const auto units = store.metric_units("benchmark/BM_copy/64");
    ASSERT_EQ(units.size(), 3u);
    EXPECT_EQ(units[2].name + units[2].unit, "real_times");
    EXPECT_EQ(units[2].better, Direction::lower);
    EXPECT_EQ(units[0].better, Direction::higher);
    int failed = 0;
    for (const auto& sample : store.samples(session.id))
        if (sample.status == "failed") {
            ++failed;
            EXPECT_EQ(sample.reason, "no device");
        }
    EXPECT_EQ(failed, 1);
    EXPECT_TRUE(store.check().ok);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

TEST(BenchmarkResults, ClockAndUnitDoNotSeparateMachinesButTheBuildDoes) {
    Folder folder;
    auto store = Store::open(folder / "a.db", Access::write);
    const auto machine_of = [&](const std::string& text) {
        std::ofstream(folder / "b.json") << text;
        std::string machine;
        read_benchmark_results(text, "b.json", [&](const Row& row) {
            if (row.table == "machine") machine = std::get<std::string>(row.cells.at(0).second);
        });
        EXPECT_EQ(import_file(store, folder / "b.json").samples, 3);
        return machine;
    };
    const auto first = machine_of(two_repetitions);
    EXPECT_EQ(machine_of(replaced(two_repetitions, "2000", "2100")), first);
    EXPECT_EQ(machine_of(replaced(two_repetitions, "\"us\"", "\"ms\"")), first)
        << "the units of two files do not contradict each other";
    EXPECT_NE(machine_of(replaced(two_repetitions, "release", "debug")), first);
}

TEST(BenchmarkResults, WhatTookNoTimeHasFailed) {
    std::vector<std::string> status;
    read_benchmark_results(
        R"({"benchmarks":[{"name":"x","real_time":0},{"name":"x","real_time":1}]})", "b.json",
        [&](const Row& row) {
            if (row.table != "sample") return;
            for (const auto& [name, value] : row.cells)
                if (name == "status") status.push_back(std::get<std::string>(value));
        });
    EXPECT_EQ(status, (std::vector<std::string>{"failed", "ok"}));
}

TEST(BenchmarkResults, WhatIsNotSuchAFileIsRefused) {
    const auto complaint = [](std::string_view text) {
        try {
            read_benchmark_results(text, "b.json", [](const Row&) {});
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(complaint("{\n \"benchmarks\": [}"),
              "b.json:2:17: not valid JSON: syntax error while parsing value - unexpected '}'; "
              "expected '[', '{', or a literal");
    EXPECT_NE(complaint("{}").find("no results that are read; those of these tools are: nvbench"),
              std::string::npos);
    EXPECT_NE(complaint(R"({"benchmarks":[{"name":"x"}]})").find("'x' has no real_time"),
              std::string::npos);
    EXPECT_NE(complaint(R"({"benchmarks":[{"name":"x","real_time":1,"time_unit":"min"}]})")
                  .find("'x' has the time_unit 'min'"),
              std::string::npos);
    EXPECT_NE(complaint(R"({"benchmarks":[]})").find("no repetitions"), std::string::npos);
    EXPECT_NE(complaint(R"({"benchmarks":[{"name":"x_mean","real_time":1}]})")
                  .find("again without --benchmark_report_aggregates_only"),
              std::string::npos);
}

/// When the session of the file with this date began, and what the import says of it.
std::pair<std::string, std::vector<std::string>> started(const std::string& date) {
    std::string at;
    auto notes = read_benchmark_results(R"({"context": {)" +
                                            (date.empty() ? "" : "\"date\": \"" + date + '"') +
                                            R"(}, "benchmarks": [{"name": "x", "real_time": 1}]})",
                                        "b.json", [&](const Row& row) {
                                            if (row.table != "session") return;
                                            for (const auto& [name, value] : row.cells)
                                                if (name == "started")
                                                    at = std::get<std::string>(value);
                                        });
    return {at, std::move(notes)};
}

TEST(BenchmarkResults, DatesOfOldVersionsAreRead) {
    for (const char* date : {"2015-03-17 18:40:51", "03/17/15 18:40:51", "2015/03/17 18:40:51"}) {
        const auto [at, notes] = started(date);
        EXPECT_TRUE(at.starts_with("2015-03-1")) << at;
        EXPECT_TRUE(notes.empty()) << date;
    }
}

TEST(BenchmarkResults, TheTimeOfTheImportNeverStandsForADateWithoutAWord) {
    const std::string before = store::now_utc();
    for (const auto& [date, says] : {std::pair("yesterday", "the date 'yesterday' is not "),
                                     std::pair("", "the file has no date")}) {
        const auto [at, notes] = started(date);
        EXPECT_GE(at, before);
        ASSERT_EQ(notes.size(), 1u);
        EXPECT_NE(notes[0].find(says), std::string::npos) << notes[0];
    }
}

TEST(BenchmarkResults, WhatIsNoNumberIsKept) {
    Folder folder;
    std::ofstream(folder / "b.json") << R"({"benchmarks": [
        {"name": "x", "real_time": 1, "a": NaN, "b": -inf}, {"name": "y", "real_time": nan}]})";
    auto store = Store::open(folder / "a.db", Access::write);
    EXPECT_EQ(import_file(store, folder / "b.json").samples, 2);
    const auto samples = store.newest_samples("benchmark/x");
    ASSERT_EQ(samples.size(), 1u);
    ASSERT_EQ(samples[0].metrics.size(), 3u);
    EXPECT_TRUE(std::isnan(samples[0].metrics[1].value));
    EXPECT_EQ(samples[0].metrics[2].value, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(store.unsuccessful_samples("benchmark/y").at(0).reason, "its real_time is NaN");
}

}  // namespace
}  // namespace assay::import_export::testing
