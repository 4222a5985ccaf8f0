// Rivals whose steps are not one pass of maps that choose.
#pragma once

#include <memory>
#include <vector>

#include "impls/dr_post_training/recipes/arms.hpp"

namespace assay::dr_post_training {

/// IIF, as the specification has it of a rollout and its epochs, of a round of steps and their
/// batches: before every 50 steps, the rows of all their batches are judged once by the model as it
/// is then, all maps together, against all given target rows; those that oppose them are left out.
/// Of a batch of nothing else the row that opposes them least stays.
std::unique_ptr<Arm> make_filtering(const StepModel&, const SftSettings&, const SftRows&, Tuning&);
inline constexpr std::int64_t filtering_round = 50;

/// A-GEM with the roles of the specification's half-space: v − min(0, <v, c>)/|c|²·c, v the mean
/// gradient of the step's target rows, c that of its general rows, over everything that is trained.
std::unique_ptr<Arm> make_a_gem(const StepModel&, const SftRows&,
                                std::vector<nn::TrainedBlock> blocks);

}  // namespace assay::dr_post_training
