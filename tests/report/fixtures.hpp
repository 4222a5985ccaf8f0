// Experiments and samples with fixed ids, so that everything rendered from them is the same each
// time.
#pragma once

#include <vector>

#include "suite/report/page/html_page.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

Experiment recovery_experiment();               ///< lines; panels model × step × order × trace
std::vector<store::Sample> recovery_samples();  ///< one per case and variant, exact
std::vector<Claim> recovery_claims();
Experiment plans_experiment();  ///< bars over the variants
std::vector<store::Sample> plans_samples();
Experiment live_experiment();  ///< timeline
store::Sample live_sample();
ReportData whole_report();  ///< all of them, with failures and hostile names

/// A timeline of five variants that live through the same 80 minutes; panels by `model`.
Experiment rivals_experiment();
/// 40 deaths and joins in 80 minutes for two models. The rates are made up: their size matters.
std::vector<store::Sample> rivals_samples();

/// Kinds of events of both timelines: the suite's, and those of a training that regroups.
std::vector<EventKind> training_kinds();

}  // namespace assay::report
