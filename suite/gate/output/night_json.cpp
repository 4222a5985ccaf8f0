// The night for other programs.
#include <nlohmann/json.hpp>

#include "suite/base/encoding.hpp"
#include "suite/compare/rows_output.hpp"
#include "suite/gate/night_rows.hpp"
#include "suite/gate/night_verdict.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"

namespace assay::gate {
namespace {

using nlohmann::json;

/// As `assay compare --json` writes a row, and what the gate adds to it.
json comparison(const compare::Row& row, const report::RowNames& names) {
    json out = compare::row_json(row, names);
    out["reason_code"] = to_string(row.reason_code);
    out["margin"] = row.margin;
    out["paired"] = row.paired;
    return out;
}

json state(const std::optional<State>& of) { return of ? json(to_string(*of)) : json(); }

json night_row_json(const NightRow& row, const report::RowNames& names) {
    json out = comparison(row.against_baseline, names);
    out["row"] = names.of(row.against_baseline.id).text();
    out["slowdown"] = finite_or_null(slowdown(row.against_baseline));
    out["history_change"] = finite_or_null(row.history_change);
    out["history_threshold"] = finite_or_null(row.history_threshold);
    out["candidate"] = row.candidate;
    out["rerun"] = row.rerun ? comparison(*row.rerun, names) : json();
    out["rerun_paired"] = row.rerun_paired;
    out["evidence"] = to_string(row.evidence);
    out["from"] = state(row.step.from);
    out["to"] = state(row.step.to);
    out["why"] = row.step.why;
    out["standing"] = to_string(standing(row));
    out["budget_ended"] = row.budget_ended;
    out["seconds"] = row.seconds;
    out["muted"] = row.muted;
    out["mute"] = row.muted ? json(row.mute) : json();
    out["relative_to_control"] =
        row.relative_to_control > 0 ? json(row.relative_to_control) : json();
    return out;
}

}  // namespace

std::string json_text(const Night& night) {
    json rows = json::array();
    const report::RowNames names = names_of(night);
    for (const auto& group : by_heading(night))
        for (const NightRow* row : group) rows.push_back(night_row_json(*row, names));
    json changes = json::array();
    for (const auto& [name, before, after] : night.machine_changes)
        changes.push_back({{"name", name}, {"before", before}, {"after", after}});
    json standings = json::object();
    for (const Standing of : values_of<Standing>)
        standings[std::string(to_string(of))] = count_of(night, of);
    const json out = {{"suite", night.suite},
                      {"baseline", night.baseline},
                      {"standings", std::move(standings)},
                      {"night", night.id},
                      {"started", night.started},
                      {"session", night.session},
                      {"baseline_session",
                       night.baseline_session.empty() ? json() : json(night.baseline_session)},
                      {"machine", night.machine},
                      {"host", night.host},
                      {"machine_changes", std::move(changes)},
                      {"commit", night.commit},
                      {"program_commits", night.program_commits},
                      {"nights_before", night.nights_before},
                      {"margin", night.margin},
                      {"seconds", night.seconds},
                      {"verdict", to_string(night.verdict)},
                      {"exit_code", exit_code(night.verdict)},
                      {"says", verdict_words(night)},
                      {"geometric_mean", finite_or_null(night.geometric_mean)},
                      {"median_slowdown", finite_or_null(night.median_slowdown)},
                      {"rerun_slowdown", finite_or_null(night.rerun_slowdown)},
                      {"control", night.control},
                      {"below_level", night.below_level},
                      {"levels_reached", night.levels_reached},
                      {"failures", night.failures},
                      {"left_out", night.left_out},
                      {"warnings", night.warnings},
                      {"rows", std::move(rows)}};
    // Texts of programs may hold broken UTF-8: replaced, never a failure of the report.
    return out.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace assay::gate
