// A file of Google Benchmark, as --benchmark_out writes it (docs/user_guide.md of that project and
// its json_reporter.cc; versions from 1.4 on, which wrote no run_type before 1.5). What its rows
// are called and what they mean is said here, once, for who compares a file and who imports it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

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

class GoogleBenchmarkFile {
  public:
    struct Metric {
        std::string name, unit;
        Direction better = Direction::none;
        double value = 0;
    };

    /// One run of a benchmark.
    struct Repetition {
        /// "benchmark/" and its name. Several benchmarks of one name are "BM_copy (1 of 2)" and so
        /// on, in the order of the file: none is taken for another, and none for the only one that
        /// another file has.
        std::string experiment;
        int round = 0;       ///< counts those of its benchmark
        std::string status;  ///< ok, failed, unsupported (skipped)
        std::string reason;  ///< of those that are not ok
        /// real_time and cpu_time in seconds, lower is better; then the counters in name order,
        /// those that end in "_per_second" higher is better. A counter of the name of one of the
        /// file's own fields is "counter:NAME". May be NaN or infinite, but for real_time: what
        /// has no such number has failed. Empty unless ok.
        std::vector<Metric> metrics;
    };

    /// UserError with `source`: line and column of malformed text, or what another JSON lacks. A
    /// file of aggregates only is refused, too: there is nothing in it that could be compared.
    GoogleBenchmarkFile(std::string_view text, std::string source);

    const nlohmann::json& context() const { return context_; }  ///< an object, maybe an empty one
    std::string context_word(const char* key) const;            ///< "" where there is none
    /// In the order of the file; at least one. A benchmark of which the file has only aggregates,
    /// beside others, follows as one that is not supported.
    const std::vector<Repetition>& repetitions() const { return repetitions_; }

    /// What may explain a difference and is no reason not to compare: host, commit, clock, flags …;
    /// not the time and the load.
    nlohmann::json suspects() const;
    /// What the file says of a machine that was not quiet, in the words of a session's record:
    /// "load", "cpu scaling"; "" for nothing.
    std::string warnings() const;

  private:
    struct Entry;
    class Names;

    [[noreturn]] void refuse(const std::string& what) const;
    void take(const std::vector<Entry>& entries);
    Repetition repetition(const Entry& entry) const;
    std::vector<Metric> metrics(const Entry& entry) const;
    double per_second(const Entry& entry) const;

    std::string source_;
    nlohmann::json context_;
    std::vector<Repetition> repetitions_;
};

/// Of real_time and cpu_time lower, of counters in "_per_second" higher, of others none.
Direction benchmark_direction(std::string_view metric);

/// What affects speed, so that files which differ in it are not compared silently: "num_cpus",
/// "caches", "library_build_type", as far as `description` knows them: the context of a file, or
/// what an import keeps of it as the machine. That library writes no cache where it cannot tell.
std::map<std::string, std::string> benchmark_context(const nlohmann::json& description);

/// Those of a context, known or not: what identifies the machine of an import.
nlohmann::json benchmark_machine(const nlohmann::json& context);

}  // namespace assay
