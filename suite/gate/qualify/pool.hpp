// What a qualification rests on: rounds of a suite, recorded one after the other while nothing
// changed, and if asked for the same samples made slower on purpose.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "suite/compare/arm.hpp"
#include "suite/gate/plan/night_plan.hpp"
#include "suite/store/records.hpp"

namespace assay::qualify {

/// The suite's night, prolonged to `rounds` rounds. Round i has the seed of round i modulo the
/// night's number of rounds, so that any rounds in a row have the seeds of a night. Every sample
/// that is measured comes a second time per entry of `slowdowns` (1.1: takes 1.1 times as long),
/// next to the honest one, the other way round in every second round; but for the control's. Rows
/// of one round stay so. UserError: as make_night_plan(); fewer rounds than three nights; a
/// slowdown out of range.
gate::NightPlan make_pool_plan(const Registry&, const gate::SuiteFile&, int rounds,
                               const std::vector<double>& slowdowns);

/// One row of the suite.
struct PoolRow {
    compare::Series series;  ///< without its points
    gate::SeriesGate gate;
    double seconds = 0;  ///< that one sample takes, median
    /// By round; NaN where the sample failed or was excluded.
    std::vector<double> honest;
    /// By how many times slower the sample was made, then by round.
    std::map<double, std::vector<double>> slowed;
};

struct Pool {
    std::vector<PoolRow> rows;
    int rounds = 0;           ///< of the longest row
    int exact_rows = 0;       ///< deterministic: left out of what is drawn
    int short_rows = 0;       ///< of fewer rounds than three nights have: left out
    double seconds = 0;       ///< all samples together
    std::string first, last;  ///< when the first and the last sample started
};

/// From the arm and the samples of the session that ran the plan. Rows with fewer than three
/// nights' rounds are left out: nothing could be drawn from them. UserError: its rounds have not
/// the seeds of such nights, so that it was recorded for another suite.
Pool make_pool(const compare::Arm& arm, std::span<const store::Sample> samples,
               const std::map<RowId, gate::SeriesGate>& gates);

}  // namespace assay::qualify
