// Steps in which all GPUs do the same at a time, layer by layer: attention, rows out, experts, rows
// back. What such a step is made of, once for its closed form (arms.cpp), its flows (flow_step.hpp)
// and its paced processes (emulated/paced_arm.cpp).
#pragma once

#include <optional>
#include <vector>

#include "impls/hetermoe/simulated/arms.hpp"

namespace assay::hetermoe {

struct Lockstep {
    int first = 0;  ///< number of its first GPU at the point, whose new ones come first
    int new_gpus = 0, old_gpus = 0;
    bool split = false;  ///< new GPUs have attention, old ones experts; else each has both
    /// Of one GPU, forward; 0: what it has no part in.
    GpuSeconds of_new = {}, of_old = {};
    double sequences = 0;   ///< of the step
    double rows_s = 0;      ///< all rows of a GPU with attention over its link, one way …
    double exchange_s = 0;  ///< … and those that travel, over the busiest link
    PieceSeconds piece_s = {};
    /// Share of the exchanges that is waited for by an anchor; nothing: as pieces leave it.
    std::optional<double> anchored_share = {};

    int gpus() const { return new_gpus + old_gpus; }
    std::vector<int> attention_ranks() const;
    std::vector<int> expert_ranks() const;
    /// What the others wait for.
    GpuSeconds slowest() const;
    /// The share of its exchanges that it waits for, each alone on its link.
    double exposed() const;
};

/// first, first + 1, …: so many.
std::vector<int> ranks_from(int first, int count);

/// The sets of GPUs of ep, dist_ep and ep_ideal, which train beside each other.
std::vector<Lockstep> locksteps(const Point& point, Arm arm);

}  // namespace assay::hetermoe
