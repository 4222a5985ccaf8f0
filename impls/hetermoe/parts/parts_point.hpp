// A point of a figure as parts of one GPU stand for it. Without libtorch.
#pragma once

#include "impls/hetermoe/policy/profile.hpp"
#include "impls/hetermoe/simulated/arms.hpp"

namespace assay::hetermoe {

struct PartsPoint {
    ModelShape model;  ///< with fewer layers than the paper's
    Group parts;       ///< that stand for new and for old GPUs
    int groups = 1;    ///< so many groups of such parts are the paper's cluster
    /// Multiprocessors of each new and each old part, as one unit: the parts are the largest
    /// multiple that the GPU can be divided into.
    Group unit;
    bool new_fused = true, old_fused = false;  ///< attention
    int tokens = 0;                            ///< of a sequence
    int batch = 0;                             ///< sequences of a step for each new part
};

/// As many parts as GPUs where those are four at most, else as many as their numbers without the
/// greatest common divisor; units in the paper's ratios of experts (A40 over V100 1.25, L40S over
/// T4 7; A100 over A40 2, by their peaks 2.1). Four layers at most. Throws UserError for devices
/// that no unit is known of, or a sequence of less than one token.
PartsPoint parts_for(const Point& point);

/// Whether parts_arms.hpp has it.
bool has_parts_version(Arm arm);

}  // namespace assay::hetermoe
