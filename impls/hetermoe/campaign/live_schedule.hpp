// A small training across processes under the faults that a seed stands for, every rule checked.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/tensors/part.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::hetermoe {

/// Of a seed, on this text, in this empty folder.
inline const tensors::Part<drive::SeedOutcome(std::uint64_t, const std::filesystem::path&,
                                              const std::filesystem::path&)>
    run_live_schedule{"hetermoe/campaign", tensors::Needs::text};

}  // namespace assay::hetermoe
