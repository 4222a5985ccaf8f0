#include "suite/cli/rerun_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/cli/shell_quoting.hpp"
#include "suite/compare/judge.hpp"
#include "suite/report/row_name.hpp"

namespace assay::cli {
namespace {

/// A name as a regular expression that matches nothing else.
std::string literal_pattern(const std::string& name) {
    std::string out = "^";
    for (const char c : name) {
        if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out + "$";
}

std::string context_of(const compare::Series& series, const char* key) {
    const auto found = series.context.find(key);
    return found == series.context.end() ? std::string() : found->second;
}

std::string run_of_experiment(const compare::Series& series, std::size_t rounds) {
    std::string text =
        fmt::format("assay run {} --variant {}", shell_quoted(series.name.experiment),
                    shell_quoted(series.name.variant));
    for (const auto& [axis, value] : series.name.axes)
        text += " -a " + shell_quoted(axis + '=' + assay::to_string(value));
    if (const std::string profile = context_of(series, "profile"); !profile.empty())
        text += " --profile " + profile;
    if (const std::string mode = context_of(series, "provenance"); !mode.empty())
        text += " --mode " + mode;
    std::string faults = context_of(series, "scenario");
    while (!faults.empty()) {
        const auto end = std::min(faults.find_first_of(";\n"), faults.size());
        text += " --fault " + shell_quoted(faults.substr(0, end));
        faults.erase(0, end + 1);
    }
    return text + fmt::format(" --rounds {} --fresh", rounds);
}

std::string run_of_benchmark(const std::string& name, const compare::Arm& arm,
                             std::size_t repetitions) {
    const auto program = arm.suspects.find("executable");
    if (program == arm.suspects.end() || program->second.find(", ") != std::string::npos) return {};
    return fmt::format("{} --benchmark_filter={} --benchmark_repetitions={}",
                       shell_quoted(program->second), shell_quoted(literal_pattern(name)),
                       repetitions);
}

}  // namespace

std::string rerun_command(const compare::Row& row, const compare::Arm& a, const compare::Arm& b) {
    const compare::Series& series = row.b != nullptr ? *row.b : *row.a;
    const auto in_a_session = [](const compare::Series* side) {
        if (side == nullptr) return std::size_t{0};
        return side->points.size() / static_cast<std::size_t>(std::max(1, sessions_in(*side)));
    };
    const std::size_t most = std::max(in_a_session(row.a), in_a_session(row.b));
    // Twice as many as a session had: what could not be decided may be then.
    const std::size_t rounds = std::max<std::size_t>(2 * most, 7);
    if (const auto benchmark = report::imported_benchmark(series.name))
        return run_of_benchmark(*benchmark, row.b != nullptr ? b : a, rounds);
    return run_of_experiment(series, rounds);
}

}  // namespace assay::cli
