// In place of live_experiments.cpp in a build without CUDA's header.
#include "impls/foundry/experiments/live/live_experiments.hpp"

namespace assay::foundry {

std::vector<Experiment> live_experiments() { return {}; }

std::function<drive::SeedOutcome(std::uint64_t, const std::string&)> live_schedule() { return {}; }

}  // namespace assay::foundry
