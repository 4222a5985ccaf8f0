// What of Foundry needs a driver: experiments, one function each, and all of them; the campaign
// with processes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::foundry {

/// None in a build without CUDA's header.
std::vector<Experiment> live_experiments();
/// Empty in such a build.
std::function<drive::SeedOutcome(std::uint64_t seed, const std::string& variant)> live_schedule();

Experiment tokens();     ///< whether restored graphs decode what captured ones do
Experiment fig9();       ///< whether a restored graph takes as long as a captured one
Experiment fig10();      ///< what making one graph launchable costs
Experiment x_detect();   ///< which check sees which difference of saving and loading
Experiment x_driver();   ///< what a driver answers to questions that no document settles
Experiment x_penalty();  ///< whether an updated executable is slower
Experiment x_ranks();    ///< one archive for all ranks, and a switch of parallelism

}  // namespace assay::foundry
