#include "suite/report/comparison/measuring_again.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/quantity_text.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/runner/plan.hpp"

namespace assay::report {
namespace {

using AllSeries = std::span<const compare::Series* const>;
using ValueTexts = std::map<std::string, std::set<std::string>>;

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

ValueTexts values_of_axes(const std::vector<Case>& cases) {
    ValueTexts values;
    for (const Case& axes : cases)
        for (const auto& [axis, value] : axes) values[axis].insert(assay::to_string(value));
    return values;
}

/// What `assay run` takes where nothing is named.
struct Unnamed {
    std::set<std::string> variants;
    ValueTexts axes;
};

Unnamed unnamed_of(const Experiment* experiment, const RowId& id) {
    const ProfilePlan* profile = experiment && id.profile ? experiment->plan(*id.profile) : nullptr;
    if (profile == nullptr || !id.provenance) return {};
    const auto& variants = profile->variants.empty() ? experiment->variants : profile->variants;
    Unnamed unnamed{{variants.begin(), variants.end()}, {}};
    try {
        unnamed.axes = values_of_axes(runner::cases(*experiment, profile->of(*id.provenance), {}));
    } catch (const UserError&) {
        // It has an axis without values: none runs unnamed.
    }
    return unnamed;
}

/// "run lte/fig8 … --fresh" of series of one experiment, profile and provenance. `experiment` null:
/// all is named.
std::string run_command(AllSeries all, std::size_t rounds, const Experiment* experiment) {
    const compare::Series& first = *all.front();
    std::set<std::string> variants;
    std::vector<Case> cases;
    for (const compare::Series* series : all) {
        variants.insert(series->name.variant);
        cases.push_back(series->name.axes);
    }
    const Unnamed unnamed = unnamed_of(experiment, first.name);
    std::string text = "run " + shell_quoted(first.name.experiment);
    if (variants != unnamed.variants)
        text += " --variant " + shell_quoted(fmt::format("{}", fmt::join(variants, ",")));
    for (const auto& [axis, values] : values_of_axes(cases)) {
        if (values == std::set<std::string>{""}) continue;  // only a default is empty
        const auto found = unnamed.axes.find(axis);
        if (found == unnamed.axes.end() || found->second != values)
            text += " -a " + shell_quoted(fmt::format("{}={}", axis, fmt::join(values, ",")));
    }
    if (const std::string profile = context_of(first, "profile"); !profile.empty())
        text += " --profile " + profile;
    if (const std::string provenance = context_of(first, "provenance"); !provenance.empty())
        text += " --mode " + provenance;
    std::string faults = context_of(first, "scenario");
    while (!faults.empty()) {
        const auto end = std::min(faults.find_first_of(";\n"), faults.size());
        text += " --fault " + shell_quoted(faults.substr(0, end));
        faults.erase(0, end + 1);
    }
    return text + fmt::format(" --rounds {} --fresh", rounds);
}

/// The program that a file of benchmarks names; "" where it names none, or several.
std::string program_of(const compare::Arm& arm) {
    const auto program = arm.suspects.find("executable");
    if (program == arm.suspects.end() || program->second.find(", ") != std::string::npos) return {};
    return program->second;
}

std::string run_of_benchmark(const std::string& name, const compare::Arm& arm,
                             std::size_t repetitions) {
    const std::string program = program_of(arm);
    if (program.empty()) return {};
    return fmt::format("{} --benchmark_filter={} --benchmark_repetitions={}", shell_quoted(program),
                       shell_quoted(literal_pattern(name)), repetitions);
}

std::size_t rounds_in_session(const compare::Series* side) {
    if (side == nullptr) return 0;
    return side->points.size() / static_cast<std::size_t>(std::max(1, sessions_in(*side)));
}

/// "lte/fig8"; of a program of a suite "benchmark/gemv".
std::string experiment_text(const RowId& id) {
    const auto benchmark = benchmark_name(id);
    return benchmark ? benchmark->first : printable(id.experiment);
}

/// ": `assay run …`"; "" where nothing is known to run.
std::string command_of(const compare::Deciding& of, const Registry& registry,
                       const compare::Arm& b) {
    const compare::Row& first = *of.rows.front();
    if (imported_benchmark(first.id)) {
        // Google Benchmark's file names it; other tools have other flags.
        const std::string program = program_of(b);
        return program.empty() ? std::string()
                               : fmt::format(": `{} --benchmark_repetitions={}`",
                                             shell_quoted(program), *of.needed);
    }
    const Experiment* experiment = registry.experiment(first.id.experiment);
    if (experiment == nullptr) return {};
    std::vector<const compare::Series*> series;
    for (const compare::Row* row : of.rows) series.push_back(row->b);
    const std::size_t rounds = of.unit == compare::Basis::Unit::session
                                   ? rounds_in_session(first.b)
                                   : static_cast<std::size_t>(*of.needed);
    return ": " + suggested(run_command(series, rounds, experiment));
}

}  // namespace

std::string rerun_command(const compare::Row& row, const compare::Arm& a, const compare::Arm& b) {
    const compare::Series* series = row.b != nullptr ? row.b : row.a;
    // Twice as many as a session had: what could not be decided may be then.
    const std::size_t rounds =
        std::max<std::size_t>(2 * std::max(rounds_in_session(row.a), rounds_in_session(row.b)), 7);
    if (const auto benchmark = imported_benchmark(series->name))
        return run_of_benchmark(program_name(*benchmark), row.b != nullptr ? b : a, rounds);
    return suggested_line(run_command({&series, 1}, rounds, nullptr));
}

std::string deciding_line(const compare::Deciding& of, const Registry& registry,
                          const compare::Arm& b) {
    const compare::Row& first = *of.rows.front();
    const bool one = of.rows.size() == 1, imported = imported_benchmark(first.id).has_value(),
               sessions = of.unit == compare::Basis::Unit::session;
    const std::string text =
        fmt::format("{} ambiguous row{}{}{}: ", of.rows.size(), one ? "" : "s",
                    imported ? std::string() : " of " + experiment_text(first.id),
                    of.others > 0 ? fmt::format(" (and {} elsewhere)", of.others) : std::string());
    const std::string what = imported   ? "repetitions"
                             : sessions ? "sessions"
                                        : "rounds",
                      them = one ? "it" : "them";
    if (!of.needed)
        return text + fmt::format(
                          "by the noise not even {} {} on either side would decide {}: look for "
                          "what disturbs the machine (`assay doctor`)\n",
                          compare::most_needed, what, them);
    const std::string margin =
        of.margin > 0 ? fmt::format("with --margin {:g}% ", 100 * of.margin) : "";
    const std::string decided =
        of.decided == of.rows.size() ? them : fmt::format("{} of them", of.decided);
    if (*of.needed == 0) return text + fmt::format("{}what there is decides {}\n", margin, decided);
    std::string needed =
        fmt::format("{}by the noise about {} {} on either side", margin, *of.needed, what);
    if (sessions)
        needed += fmt::format(" (A has {}, B has {})", std::max(1, sessions_in(*first.a)),
                              std::max(1, sessions_in(*first.b)));
    if (const double seconds = sessions ? of.session_s : of.round_s * *of.needed; seconds > 0)
        needed += fmt::format(", {} each,", duration_text(seconds));
    return text + needed +
           fmt::format(" would decide {}{}\n", decided, command_of(of, registry, b));
}

}  // namespace assay::report
