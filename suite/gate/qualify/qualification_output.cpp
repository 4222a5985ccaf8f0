// A qualification for the terminal and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "suite/base/encoding.hpp"
#include "suite/gate/qualify/qualification.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::qualify {
namespace {

/// Rows shown one by one, those with the highest floor first; JSON has them all.
constexpr std::size_t most_rows_shown = 30;

std::string percent(double share) {
    return std::isfinite(share) ? fmt::format("{:.3g} %", 100 * share) : "–";
}
std::string slowdown_words(double factor) { return fmt::format("{:.4g} %", 100 * (factor - 1)); }

/// "5 %"; "above 100 %" where nothing that was tried was found.
std::string floor_words(double floor) {
    return std::isfinite(floor) ? fmt::format("{:.3g} %", 100 * floor) : "above 100 %";
}

std::vector<double> recorded_factors(const Qualification& result) {
    std::vector<double> factors;
    for (const RowQuality& row : result.rows)
        for (const auto& [factor, share] : row.recorded)
            if (std::find(factors.begin(), factors.end(), factor) == factors.end())
                factors.push_back(factor);
    std::sort(factors.begin(), factors.end());
    return factors;
}

std::string detection_table(const Qualification& result) {
    report::Grid grid = {
        {"slowdown", "provenance", "as measured", "rows detected", "all rows at once"}};
    for (const double factor : usual_slowdowns)
        grid.push_back({slowdown_words(factor), "emulated", "–",
                        percent(result.detection(factor, false)),
                        percent(result.mean_fails.at(factor))});
    for (const double factor : recorded_factors(result))
        grid.push_back({slowdown_words(factor), "measured",
                        percent(result.measured_slowdown(factor) - 1),
                        percent(result.detection(factor, true)), "–"});
    return report::text_table(grid);
}

std::string floor_table(const Qualification& result) {
    std::vector<const RowQuality*> rows;
    std::vector<RowId> ids;
    for (const RowQuality& row : result.rows) {
        rows.push_back(&row);
        ids.push_back(row.id);
    }
    const report::RowNames names(ids);
    std::stable_sort(rows.begin(), rows.end(), [](const RowQuality* a, const RowQuality* b) {
        return a->floor != b->floor ? a->floor > b->floor : a->spread > b->spread;
    });
    report::Grid grid = {{"floor", "night to night", "5 %", "10 %", "row"}};
    for (std::size_t i = 0; i < std::min(rows.size(), most_rows_shown); ++i)
        grid.push_back({floor_words(rows[i]->floor), percent(rows[i]->spread),
                        percent(rows[i]->detected.at(1.05)), percent(rows[i]->detected.at(1.1)),
                        names.of(rows[i]->id).text()});
    std::string text = report::text_table(grid);
    if (rows.size() > most_rows_shown)
        text += fmt::format("and {} rows with lower floors; --json shows all\n",
                            rows.size() - most_rows_shown);
    return text;
}

nlohmann::json by_percent(const std::map<double, double>& shares) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [factor, share] : shares)
        object[fmt::format("{:.4g}", 100 * (factor - 1))] = share;
    return object;
}

}  // namespace

std::string qualification_text(const Qualification& result) {
    const QuietNights& quiet = result.quiet;
    std::string text = fmt::format(
        "Suite {}: {} rows resampled, {} exact ones taken as they are{}. Pool: {} rounds, measured "
        "from {} to {}, {:.0f} min of samples. What differs between days is not in it.\n\n",
        result.suite, result.rows.size(), result.exact_rows,
        result.short_rows > 0 ? fmt::format(", {} of too few rounds left out", result.short_rows)
                              : "",
        result.pool_rounds, result.pool_first.substr(0, 16), result.pool_last.substr(0, 16),
        result.pool_seconds / 60);
    text += fmt::format(
        "Nothing changed (A/A; {} nights resampled from the pool, {} after each baseline)\n"
        "  false alarms   {:.3g} of 20 nights failed ({} of {})\n"
        "  warnings       {:.3g} of 20 nights had a candidate\n"
        "  undecided      {:.3g} of 20 nights\n"
        "  candidates     {:.3g} rows a night before reruns, of which the reruns kept {:.3g}\n\n",
        quiet.nights, result.options.nights, result.false_alarms_per_20(), quiet.failed,
        quiet.nights, 20.0 * static_cast<double>(quiet.warned) / static_cast<double>(quiet.nights),
        20.0 * static_cast<double>(quiet.ambiguous) / static_cast<double>(quiet.nights),
        static_cast<double>(quiet.candidates) / static_cast<double>(quiet.nights),
        static_cast<double>(quiet.candidates - quiet.rerun_away) /
            static_cast<double>(quiet.nights));
    text += fmt::format(
        "Slowdowns ({} trials per row and slowdown: confirmed in its second night)\n"
        "emulated: the pool's values, multiplied; measured: samples that were stopped and "
        "continued\n"
        "while they ran, which repetitions between two stops do not see\n",
        result.options.trials);
    text += detection_table(result);
    text += "\nNoise floor: the smallest slowdown found in 95 % of the trials, the highest first\n";
    text += floor_table(result);
    text += fmt::format(
        "\n{}: {:.3g} false alarms in 20 quiet nights (goal: at most 1), {} rows (goal: at least "
        "{}), "
        "{} of the slowdowns by 10 % found (goal: {})\n",
        result.fit() ? "fit" : "not fit", result.false_alarms_per_20(), result.rows.size(),
        fewest_rows_to_be_fit, percent(result.detection(1.1, false)), percent(share_to_be_fit));
    return text;
}

nlohmann::json qualification_json(const Qualification& result) {
    nlohmann::json rows = nlohmann::json::array();
    for (const RowQuality& row : result.rows) {
        nlohmann::json entry = {{"series", row.id.series_text()},
                                {"metric", row.id.metric_text()},
                                {"id", to_json(row.id)},
                                {"margin", row.margin},
                                {"spread", finite_or_null(row.spread)},
                                {"floor", finite_or_null(row.floor)},
                                {"detected", by_percent(row.detected)}};
        if (!row.recorded.empty()) {
            entry["detected_measured"] = by_percent(row.recorded);
            entry["measured_slowdown"] = by_percent(row.measured);
        }
        rows.push_back(std::move(entry));
    }
    std::map<double, double> emulated, measured;
    for (const double factor : usual_slowdowns) emulated[factor] = result.detection(factor, false);
    for (const double factor : recorded_factors(result))
        measured[factor] = result.detection(factor, true);
    const QuietNights& quiet = result.quiet;
    return {{"suite", result.suite},
            {"machine", result.machine},
            {"pool",
             {{"session", result.session},
              {"rounds", result.pool_rounds},
              {"rows", result.rows.size()},
              {"exact_rows", result.exact_rows},
              {"short_rows", result.short_rows},
              {"sample_seconds", result.pool_seconds},
              {"from", result.pool_first},
              {"to", result.pool_last},
              {"provenance", "measured"}}},
            {"quiet",
             {{"provenance", "resampled"},
              {"nights", quiet.nights},
              {"false_alarms", quiet.failed},
              {"false_alarms_per_20", result.false_alarms_per_20()},
              {"nights_with_warnings", quiet.warned},
              {"nights_undecided", quiet.ambiguous},
              {"candidates", quiet.candidates},
              {"candidates_not_kept_by_reruns", quiet.rerun_away}}},
            {"detection",
             {{"trials", result.options.trials},
              {"emulated", by_percent(emulated)},
              {"measured", by_percent(measured)},
              {"all_rows_at_once", by_percent(result.mean_fails)}}},
            {"rows", std::move(rows)},
            {"fit", result.fit()}};
}

}  // namespace assay::qualify
