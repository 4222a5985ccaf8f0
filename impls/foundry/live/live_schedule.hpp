// One seed of `assay campaign foundry --mode live`: a saver and servers as processes on the fake
// driver, under the faults that the seed draws.
#pragma once

#include <cstdint>
#include <filesystem>

#include "suite/drive/campaign/campaign.hpp"

namespace assay::foundry {

/// Not ok where a request was not served, or not with the reference's tokens, or where something is
/// left under the archive's name that is no archive. `scratch`: an empty folder.
drive::SeedOutcome run_live_schedule(std::uint64_t seed, const std::filesystem::path& scratch);

/// Damages a file: a bit of the byte at `at`.
void flip_bit(const std::filesystem::path& file, std::int64_t at, int bit);

}  // namespace assay::foundry
