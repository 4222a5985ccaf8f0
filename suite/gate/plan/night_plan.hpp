// From a suite to the samples of a night.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/experiment/series.hpp"
#include "suite/gate/plan/suite_file.hpp"
#include "suite/runner/runner.hpp"

namespace assay::gate {

/// How the rows of one series are gated.
struct SeriesGate {
    std::set<std::string> metrics;  ///< names; empty: all with a direction
    double margin = 0.02;
    bool control = false;  ///< the control workload's
    int rounds = 5;
    bool operator==(const SeriesGate&) const = default;
};

/// An experiment that an entry's pattern matched but that cannot do what was asked (its input file
/// is damaged, say).
struct LeftOut {
    std::string experiment;
    Profile profile = Profile::toy;
    std::optional<Provenance> provenance;
    SeriesGate gate;  ///< its rows' where they were planned
};

struct NightPlan {
    /// In execution order: rounds; within a round all experiments, cases and variants, the other
    /// way round in every second round, the control workload first (and so last in those).
    runner::Plan plan;
    std::map<RowId, SeriesGate> gates;  ///< by series
    std::vector<std::string> left_out;  ///< sentences
    std::vector<LeftOut> left_out_experiments;
    std::vector<store::MetricUnit> directions;  ///< of counters, as the suite states them
};

/// UserError: as runner::make_plan().
NightPlan make_night_plan(const Registry&, const SuiteFile&);

}  // namespace assay::gate
