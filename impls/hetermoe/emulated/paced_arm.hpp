// The arms of the paper's figures as steps for paced processes, and what came of them.
#pragma once

#include <optional>
#include <vector>

#include "impls/hetermoe/emulated/paced_training.hpp"
#include "impls/hetermoe/simulated/arms.hpp"

namespace assay::hetermoe {

/// An arm at a point: sets of GPUs that train beside each other.
struct PacedArm {
    struct Part {
        PacedPlan plan;
        double tokens = 0;                 ///< of its step
        int new_ranks = 0, old_ranks = 0;  ///< new ones first; a rank more is nobody's GPU
    };
    std::vector<Part> parts;
    double efficiency = 1;  ///< of the timeline, that groups reach (efficiency_of())

    std::vector<PacedPlan> plans() const;
    /// `runs`: of each part.
    ArmResult result(std::span<const PacedRun> runs) const;
};

/// Whether paced processes can stand for it: groups that alternate micro-batches, with or without
/// moved experts, and expert parallelism in three forms. These are groups too: one micro-batch, no
/// rank computes while rows travel, and where every GPU has its experts all of them have moved to
/// the ranks with attention, which wait for the slowest at every exchange; the one expert rank that
/// is left has none.
bool can_be_paced(Arm arm);

/// A step of groups that alternate micro-batches, planned as `planned` is by run_arm(), on the GPUs
/// of `point`.
PacedStep group_step(const Point& point, const ArmResult& planned);

/// `simulated`: what run_arm() has at the point. A step lasts `real_s` real seconds. Throws
/// SampleError (unsupported) where GPUs would need fractions of experts.
PacedArm paced_arm(const Point& point, Arm arm, const ArmResult& simulated, double real_s);

}  // namespace assay::hetermoe
