// One seed of `assay campaign foundry` in virtual time: a saver, servers of one or two kinds of GPU
// and requests, under faults of the schedule that the seed draws.
#pragma once

#include <cstdint>

#include "impls/foundry/campaign/modelled_engine.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::foundry {

/// Not ok where a request was not served, or not with the result of a capture. The same seed draws
/// the same schedule, whatever the misdeed.
drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed = Misdeed::none);

}  // namespace assay::foundry
