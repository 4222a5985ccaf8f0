// A program that speaks Google Benchmark's JSON, as an experiment: each sample starts it afresh.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/base/build_folder.hpp"
#include "suite/experiment/system.hpp"
#include "suite/gate/plan/suite_file.hpp"
#include "suite/store/records.hpp"

namespace assay::gate {

inline constexpr std::string_view benchmark_experiment = "benchmark/program";

/// The system "benchmark" with its one experiment, "benchmark/program": axes name (what the reports
/// call it), program and arguments (one text, shell-quoted), none of which has values of its own;
/// metric real_time in seconds, labelled by benchmark: the fastest of a sample's repetitions;
/// beside it the counters of that repetition, of which a suite may say which way is better. Of a
/// benchmark or counter that failed beside others the metric "failed" says so
/// (compare::failed_part_metric).
System make_benchmark_system();

/// Which way of its benchmarks' counters the suite says is better, for the store to keep. UserError
/// where two of its benchmarks say otherwise of one, or one otherwise than the experiment itself.
std::vector<store::MetricUnit> stated_directions(const SuiteFile&);

/// Which of the suite's programs could not be started, and what was looked for: a sentence each,
/// and the command that builds those that `build` knows (build_folder.hpp).
std::vector<std::string> missing_programs(const SuiteFile&,
                                          const std::filesystem::path& build = build_folder());

/// A sentence when samples of one program were made by two builds of it; the samples must be there
/// with their events. nullopt: no sign of that.
std::optional<std::string> mixed_builds(std::span<const store::Sample>);

/// The time of each benchmark of a program.
inline constexpr std::string_view benchmark_time = "real_time";

/// A benchmark of a program, or a counter of one, that gave no value while others did.
struct NotRunPart {
    Labels labels;
    std::string counter{};  ///< empty: the benchmark itself
    bool skipped = false;   ///< by the program itself; else it failed
    std::string reason;     ///< in the program's words
};
/// The sample must be there with its events.
std::vector<NotRunPart> parts_not_run(const store::Sample&);

/// What the programs of the suite say that they were built from: `commit` in the context of their
/// files (--benchmark_context=commit=…), by the names of their entries. The samples must be there
/// with their events.
std::map<std::string, std::string> program_commits(std::span<const store::Sample>);

/// The axes of one entry of a suite.
Case benchmark_case(const SuiteBenchmark&);

/// The file that `program` means. With a '/' in it: that file and no other. A bare name: the file
/// of that name beside the running program, else the first in PATH that can be executed, else
/// `program` as it is. A kept program takes the one that was kept with it.
std::filesystem::path find_benchmark_program(const std::filesystem::path& program);

/// Under what name it is kept beside a kept program. That of a path has the beginning of the path's
/// SHA-256 in it, so that no other program of the same file name is taken for it.
std::string kept_benchmark_name(const std::filesystem::path& program);

}  // namespace assay::gate
