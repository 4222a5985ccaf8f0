#include "suite/gate/row_past.hpp"

namespace assay::gate {
namespace {

/// When the row's level was measured; what is older says nothing about it. Empty: no level.
std::string level_since(const BaselineLevel* level, const RowId& row) {
    if (level == nullptr) return {};
    const auto own = level->rows.find(row);
    return own == level->rows.end() ? level->since : own->second.since;
}

}  // namespace

std::map<RowId, RowPast> row_pasts(const PastInputs& inputs) {
    std::map<RowId, RowPast> past;
    std::map<RowId, std::string> same_since, newest_median;  // when those runs ended
    std::map<std::string, std::string> ended;                // night → when
    for (const store::RowOfNight& of : inputs.rows) {
        const RowId& id = of.row.id;
        RowPast& row = past[id];
        const std::string& end = of.finished.empty() ? of.started : of.finished;
        ended[of.night] = end;
        const Evidence evidence = of_word<Evidence>(of.row.evidence).value_or(Evidence::none);
        if (evidence == Evidence::same)
            same_since.try_emplace(id, end);
        else
            same_since.erase(id);
        const bool open = evidence == Evidence::none && !of.row.median;
        row.open_before = open ? row.open_before + 1 : 0;
        if (of.started < level_since(inputs.level, id) || evidence == Evidence::slower ||
            !of.row.median)
            continue;
        const auto [at, first] = newest_median.try_emplace(id, end);
        if (!first && !is_another_night(at->second, of.started, inputs.min_apart_h)) continue;
        at->second = end;
        row.medians.push_back(*of.row.median);
    }
    for (auto& [id, row] : past)
        if (!inputs.ended_by_budget.contains(id)) row.open_before = 0;
    for (const auto& [id, since] : same_since)
        past[id].same_before = is_another_night(since, inputs.began, inputs.min_apart_h);
    for (const store::RegressionRecord& record : inputs.regressions) {
        RowPast& row = past[record.row];
        row.state = of_word<State>(record.state);
        if (record.steps.empty()) continue;
        const auto seen = ended.find(record.steps.front().night);
        row.another_night = seen == ended.end() ||
                            is_another_night(seen->second, inputs.tonight, inputs.min_apart_h);
    }
    return past;
}

}  // namespace assay::gate
