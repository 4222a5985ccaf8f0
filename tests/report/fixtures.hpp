// Experiments and samples with fixed ids, so that everything rendered from them is the same each
// time.
#pragma once

#include "suite/report/report_data.hpp"

namespace assay::report {

Experiment recovery_experiment();               ///< lines; panels model × step × order × trace
std::vector<store::Sample> recovery_samples();  ///< one per case and variant, exact
std::vector<Claim> recovery_claims();
Experiment plans_experiment();  ///< bars over the variants
std::vector<store::Sample> plans_samples();
Experiment live_experiment();  ///< timeline
store::Sample live_sample();
ReportData whole_report();  ///< all of them, with failures and hostile names

}  // namespace assay::report
