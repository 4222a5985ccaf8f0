// What rows of benchmark programs are called and mean, in the terms of Google Benchmark, which
// other tools' readers use too: said here, once, for who compares a file and who imports it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "suite/experiment/experiment.hpp"

namespace assay {

/// Before the benchmark's name in what identifies a row: "benchmark/BM_copy/64".
inline constexpr std::string_view benchmark_prefix = "benchmark/";

/// The reason of a benchmark of which the file has only aggregates, beside others.
inline constexpr std::string_view aggregates_reason =
    "the file has only its aggregates (means, medians), and comparing needs the repetitions; run "
    "it again without --benchmark_report_aggregates_only (in its source: ReportAggregatesOnly)";

/// "NaN", "Infinity", "-Infinity": as that library writes them.
std::string_view odd_number_word(double value);

/// What a program calls the benchmark of this name: "BM_copy" of "BM_copy (1 of 2)".
std::string program_name(std::string_view name);

/// "real_time" and "cpu_time" of a benchmark of any kind, which are above zero when measured.
bool is_benchmark_time(std::string_view experiment, std::string_view metric);

/// Of real_time and cpu_time lower, of counters in "_per_second" higher, of others none.
Direction benchmark_direction(std::string_view metric);

/// What affects speed, so that files which differ in it are not compared silently: processors,
/// caches, GPU, build, as far as `description` knows them: the context of a file, or what an import
/// keeps of it as the machine. Google Benchmark writes no cache where it cannot tell.
std::map<std::string, std::string> benchmark_context(const nlohmann::json& description);

}  // namespace assay
