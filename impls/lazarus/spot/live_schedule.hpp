// The live half of `assay campaign lazarus`: a spot training on paced workers under a schedule of
// faults.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "impls/tensors/part.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::lazarus {

/// One of the competing systems, `system` (as of SpotTraining) or, where that is empty, the seed's
/// choice, under a seeded fault plan over every kind. Checks afterwards: the training finished; its
/// lineage has every step once; the final state equals, bit for bit, that of a run in which the
/// same members came and went by plan; no process is left behind. `scratch` is a folder of its own.
/// Makes a fork server: call it before anything starts threads in this process, once.
inline const tensors::Part<drive::SeedOutcome(std::uint64_t seed, const std::string& system,
                                              const std::filesystem::path& corpus,
                                              const std::filesystem::path& scratch)>
    run_live_schedule{"lazarus/live_schedule", tensors::Needs::text};

}  // namespace assay::lazarus
