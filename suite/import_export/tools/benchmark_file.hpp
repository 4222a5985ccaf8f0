// What a benchmark's results file says, whatever tool wrote it: the one record that comparing,
// importing and the gate read. Each tool's file is understood in a file of this folder.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/import_export/session_days.hpp"

namespace assay {

struct BenchmarkMetric {
    std::string name, unit;
    Direction better = Direction::none;
    double value = 0;  ///< may be NaN or infinite
};

/// One run of a benchmark with one set of parameters.
struct BenchmarkRepetition {
    std::string name;           ///< in the words of its tool
    Case parameters{};          ///< what it was measured for: sizes, types, models
    std::string status = "ok";  ///< ok, failed, unsupported (skipped)
    std::string reason{};       ///< of those that are not ok
    /// What it is judged by comes first. Empty unless ok.
    std::vector<BenchmarkMetric> metrics{};
    std::string date{};  ///< as written; "": that of the file
    int round = 0;       ///< counts those of equal name and parameters; readers leave it
    std::optional<Moment> started{};  ///< what `date` says

    std::string experiment() const;  ///< "benchmark/" and the name
    std::string full_name() const;   ///< the name and the parameters
};

struct BenchmarkFile {
    std::string tool{};                              ///< the name of its format
    std::vector<BenchmarkRepetition> repetitions{};  ///< in the order of the file; at least one
    /// What affects speed and so tells machines apart: processors, GPU, build. May be empty.
    nlohmann::json machine = nlohmann::json::object();
    /// What may explain a difference and is no reason not to compare: host, versions, flags; not
    /// the time and the load.
    nlohmann::json context = nlohmann::json::object();
    std::string commit{};              ///< of what was measured; "…-dirty" where it was changed
    std::string date{};                ///< as written
    std::string warnings{};            ///< of a machine that was not quiet: "load", "cpu scaling"
    std::vector<std::string> notes{};  ///< sentences that a user should know
    std::optional<Moment> started{};   ///< what `date` says
    std::string text{};  ///< that it was read from: of equal files sessions have equal ids

    /// The context with the commit and the warnings, as sessions keep it.
    nlohmann::json suspects() const;
    /// Of each repetition the day of its session (session_days.hpp); "" where all are of one.
    std::vector<std::string> days() const;
};

/// The metrics of a format, by name, whose names are always the same: their units and directions.
/// UserError names the formats that there are.
std::vector<BenchmarkMetric> known_metrics(std::string_view format);

/// Words in the arguments of a suite's program: the file of its results; before the name of their
/// format and '}', which is no argument.
inline constexpr std::string_view results_word = "{out}", format_word = "{from:";
/// Whether a program with these arguments only starts what it measures, as hyperfine does: that it
/// is the same as before says nothing of the code, and an old copy of it measures the new code.
bool is_launcher(std::string_view arguments);

/// Whether a text, of which this is the beginning, may be such a file: JSON, or a log of ReFrame.
bool looks_like_benchmark_file(std::string_view beginning);

/// Recognises the format, unless it is named. `source` is the file's path, beside which its other
/// files are, or what errors call it. UserError with `source`: line and column of malformed text,
/// what is missing in it, a date that there is not; what could be read instead.
BenchmarkFile read_benchmark_file(std::string_view text, const std::string& source,
                                  std::string_view format = {});
/// Those of a folder of Criterion's or ReFrame's, as one. UserError where there is none.
BenchmarkFile read_benchmark_folder(const std::filesystem::path&, std::string_view format = {});

}  // namespace assay
