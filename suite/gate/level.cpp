#include "suite/gate/level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "suite/gate/benchmark_experiment.hpp"
#include "suite/gate/night_rows.hpp"
#include "suite/gate/row_patterns.hpp"

namespace assay::gate {
namespace {

/// Whole names: "H100 PCIe" and "H100 80GB HBM3" have limits of their own, and "H200" is not the
/// "H200 NVL".
bool concerns(const SuiteLevel& level, const std::vector<std::string>& gpus) {
    constexpr std::string_view vendor = "NVIDIA ";
    return level.gpu.empty() || std::any_of(gpus.begin(), gpus.end(), [&](const std::string& gpu) {
               return pattern_matches(level.gpu, gpu) ||
                      (gpu.starts_with(vendor) &&
                       pattern_matches(level.gpu, gpu.substr(vendor.size())));
           });
}

/// GPUs that some levels could be for and none is.
std::vector<std::string> without_levels(const std::vector<SuiteLevel>& levels,
                                        const std::vector<std::string>& gpus) {
    std::vector<std::string> without;
    const auto is_for_a_model = [](const SuiteLevel& level) { return !level.gpu.empty(); };
    if (std::none_of(levels.begin(), levels.end(), is_for_a_model)) return without;
    for (const std::string& gpu : std::set<std::string>(gpus.begin(), gpus.end()))
        if (std::none_of(levels.begin(), levels.end(), [&](const SuiteLevel& level) {
                return is_for_a_model(level) && concerns(level, {gpu});
            }))
            without.push_back(gpu);
    return without;
}

/// "0.61", "3.1e-09 s": shares go without unit.
std::string value_words(double value, const std::string& unit) {
    return fmt::format("{:.3g}{}", value, unit.empty() || unit == "share" ? "" : " " + unit);
}

bool is_reached(const SuiteLevel& level, double value) {
    return level.at_least ? value >= *level.at_least : value <= *level.at_most;
}

/// "at least 0.7"
std::string bound_words(const SuiteLevel& level, const std::string& unit) {
    return level.at_least ? "at least " + value_words(*level.at_least, unit)
                          : "at most " + value_words(*level.at_most, unit);
}

/// Whether the level's row names it: a counter of a benchmark also by the benchmark alone, which is
/// the name of its time.
bool is_named(const SuiteLevel& level, RowId id) {
    if (id.metric != level.metric) return false;
    if (is_named_by(level.row, id)) return true;
    if (id.experiment != benchmark_experiment) return false;
    id.metric = benchmark_time;
    return is_named_by(level.row, id);
}

}  // namespace

std::string against_direction(const SuiteLevel& level, Direction better) {
    if (better != (level.at_least ? Direction::lower : Direction::higher)) return {};
    return fmt::format(
        "{}: [[level]]: of {} {} is better, so that '{}' would call a good row bad: write {}",
        level.where, level.metric, level.at_least ? "less" : "more",
        level.at_least ? "at_least" : "at_most", level.at_least ? "at_most" : "at_least");
}

LevelFindings judge_levels(const std::vector<NightRow>& rows, const std::vector<SuiteLevel>& levels,
                           const std::vector<std::string>& gpus, const report::RowNames& names) {
    LevelFindings findings;
    for (const std::string& gpu : without_levels(levels, gpus))
        findings.warnings.push_back(fmt::format(
            "no level of the suite is for {}: only those for every machine judge it; add some "
            "when its rows are known to be well",
            gpu));
    for (const SuiteLevel& level : levels) {
        if (!concerns(level, gpus)) continue;
        bool seen = false;
        for (const NightRow& row : rows) {
            const RowId& id = row.against_baseline.id;
            if (!is_named(level, id)) continue;
            seen = true;
            const auto value = median_tonight(row.against_baseline);
            if (row.muted || !value) continue;  // why it has none is said elsewhere
            if (std::string wrong = against_direction(level, row.against_baseline.better);
                !wrong.empty()) {
                findings.failures.push_back(std::move(wrong));
                break;
            }
            if (is_reached(level, *value)) {
                ++findings.reached;
                continue;
            }
            const std::string& unit = row.against_baseline.unit;
            findings.below.push_back(fmt::format(
                "{}: {}, {} is expected{}", names.of(id).text(), value_words(*value, unit),
                bound_words(level, unit), level.gpu.empty() ? "" : " of " + level.gpu));
        }
        if (!seen)
            findings.warnings.push_back(
                fmt::format("no row of this night is '{}' with {}: its level of {} judges nothing",
                            level.row, level.metric, bound_words(level, "")));
    }
    return findings;
}

}  // namespace assay::gate
