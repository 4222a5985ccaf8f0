// A training by reward that two cores make in a minute: what experiments here have in common.
#pragma once

#include <filesystem>

#include "impls/rl/live/training_run.hpp"

namespace assay::rlboost {

/// A decoder over bytes with two layers, 64 wide. `folder`, which is made, gets the weights.
rl::TrainingRunSettings toy_training(rl::tasks::Task task, int difficulty, std::uint64_t seed,
                                     const std::filesystem::path& folder);

}  // namespace assay::rlboost
