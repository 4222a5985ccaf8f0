// Whole training steps side by side: plain, choosing per map, choosing for all maps in one pass and
// in two; and the phases from which the least that a step can take is known.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

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
    at::Device device = at::kCPU;
    at::ScalarType compute = at::kFloat;  ///< of matrix products
    at::ScalarType stored = at::kFloat;   ///< weights, their gradients and moments
};

struct StepsMeasured {
    /// By arm: standard, layer, global_one_pass, global_two_pass.
    std::map<std::string, double> seconds, over_standard;  ///< medians; of a round's ratio
    std::map<std::string, std::int64_t> peak_bytes;        ///< above parameters and their state
    /// Medians of a plain step's parts: forward, backward, optimiser. Of backward, the matrix
    /// products, on random traffic: activation_gradient (of all maps), weight_gradient (of maps
    /// that choose, all n rows), head_gradient (of the head's weight), and what is left: autograd.
    /// Of a step that chooses: scoring, and chosen_gradient, the weight gradient of k rows with
    /// their gathering.
    std::map<std::string, double> phases;
    double floor_over_standard = 0;  ///< specification, section 2.2, from these phases
    double layer_over_floor = 0;
    double one_pass_over_two = 0;  ///< one choice for all maps
};

/// Loss, gradients, update.
StepsMeasured measure_steps(const StepCase&);

}  // namespace assay::dr_post_training
