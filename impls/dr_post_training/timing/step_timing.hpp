// Whole training steps side by side: plain, choosing per map, choosing for all maps in one pass and
// in two; and the phases from which the least that a step can take is known.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "impls/dr_post_training/policy/costs.hpp"
#include "impls/nn/files/decoder_config.hpp"

namespace assay::dr_post_training {

struct StepCase {
    nn::DecoderConfig model;  ///< random weights, random tokens
    std::int64_t n = 8, m = 1, k = 4, tokens = 64;
    Scoring scoring = Scoring::pip;
    std::uint64_t seed = 1;
    int rounds = 15;
};

struct StepsMeasured {
    /// By arm: standard, layer, global_one_pass, global_two_pass.
    std::map<std::string, double> seconds, over_standard;  ///< medians; of a round's ratio
    std::map<std::string, std::int64_t> peak_bytes;        ///< above parameters and their state
    /// Medians of a plain step's parts: forward, backward, optimiser; of the maps that choose by
    /// themselves: weight_gradient (all n rows), scoring, and of the head: head_gradient.
    std::map<std::string, double> phases;
    double floor_over_standard = 0;  ///< specification, section 2.2, from these phases
    double layer_over_floor = 0;
};

/// Loss, gradients, update. One thread.
StepsMeasured measure_steps(const StepCase&);

}  // namespace assay::dr_post_training
