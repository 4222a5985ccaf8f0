// The metric that the placement figures share: recovery probability by number of failed nodes.
#pragma once

#include <vector>

#include "impls/lazarus/policy/plan/recovery_probability.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

/// "recovery_probability", label "failed".
MetricSpec recovery_metric();

/// One value per number of failed nodes, 0 … nodes. Throws SampleError(failed) when the curve is
/// not exact: these experiments claim exactness.
void record_recovery(const RecoveryCurve& curve, Recorder& recorder);

/// A figure of it over the number of failed nodes.
Figure recovery_figure(std::vector<std::string> panels);

}  // namespace assay::lazarus
