// A few engines in virtual time, requests that come to them, weights that are published, and a
// seeded schedule of faults.
#pragma once

#include <cstdint>

#include "impls/decode/campaign/rules.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::decode {

/// Rules, checked in every schedule: every request is answered exactly once; its tokens and their
/// log-probabilities are those that it gets alone, in an engine without faults, from the weights of
/// the versions that its tokens name; a request that fails has the beginning of them, and fails
/// only where a NaN struck; no token is of a version that its engine had not committed, and
/// versions do not go back; a damaged state is refused; in the end no engine holds a block.
drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed = Misdeed::none);

}  // namespace assay::decode
