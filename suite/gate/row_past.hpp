// What earlier nights and people said about each row. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/gate/baseline.hpp"
#include "suite/gate/confirmation.hpp"
#include "suite/store/nights.hpp"

namespace assay::gate {

/// Of one row, since its level was accepted last.
struct RowPast {
    /// Of nights that did not call it slower, oldest first; of runs of one night the first.
    std::vector<double> medians;
    bool same_before = false;   ///< the night before said same, and so did all runs since
    bool another_night = true;  ///< where it is a candidate: it was not first seen in this night
    /// How many of the newest runs in a row had no verdict on it, the last of them since its rerun
    /// budget was spent; 0 where another reason (it failed, say) was the last.
    int open_before = 0;
    std::optional<State> state;
};

struct PastInputs {
    std::vector<store::RowOfNight> rows;               ///< oldest night first
    std::vector<store::RegressionRecord> regressions;  ///< the newest of each row last
    const BaselineLevel* level = nullptr;              ///< null: nothing was accepted yet
    std::map<std::string, long> places;                ///< of sessions: Store::places()
    std::string tonight;  ///< when it began, or went on after an interruption: its reruns are newer
    std::string began;    ///< when its first sample did
    std::set<RowId> ended_by_budget;  ///< rows that the budget of the newest night left undecided
    double min_apart_h = 0;           ///< of the suite
};
std::map<RowId, RowPast> row_pasts(const PastInputs&);

/// What a regression is now; nullopt: it was taken back. A mute ends none: of one that an older
/// program marked as ignored for it, what it was before.
std::optional<State> state_of(const store::RegressionRecord&);
/// A candidate, or confirmed.
bool is_open(std::optional<State>);

}  // namespace assay::gate
