#include "suite/gate/row_past.hpp"

namespace assay::gate {
namespace {

/// In the order in which sessions were recorded; 0: it was pruned, and was old.
long place_of(const PastInputs& inputs, const std::string& session) {
    const auto known = inputs.places.find(session);
    return known == inputs.places.end() ? 0 : known->second;
}

/// Before the row's level: it says nothing about it.
bool is_before_level(const PastInputs& inputs, const store::RowOfNight& of) {
    return inputs.level != nullptr &&
           place_of(inputs, of.session) < place_of(inputs, inputs.level->session_of(of.row.id));
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
        if (is_before_level(inputs, of) || evidence == Evidence::slower || !of.row.median) continue;
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
        row.state = state_of(record);
        if (record.steps.empty()) continue;
        const auto seen = ended.find(record.steps.front().night);
        row.another_night = seen == ended.end() ||
                            is_another_night(seen->second, inputs.tonight, inputs.min_apart_h);
    }
    return past;
}

std::optional<State> state_of(const store::RegressionRecord& record) {
    auto state = of_word<State>(record.state);
    for (auto step = record.steps.rbegin(); state == State::ignored && step != record.steps.rend();
         ++step)
        state = of_word<State>(step->state);
    return state == State::ignored ? std::nullopt : state;
}

bool is_open(std::optional<State> state) {
    return state == State::candidate || state == State::confirmed;
}

}  // namespace assay::gate
