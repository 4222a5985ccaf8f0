// A few engines in virtual time, requests that come to them, weights that are published, and a
// seeded schedule of faults.
#pragma once

#include <cstdint>

#include "suite/drive/campaign/campaign.hpp"

namespace assay::decode {

/// What the driver of a schedule does wrong, for tests that rules can be broken.
enum class Misdeed {
    none,
    hears_the_lost,      ///< takes tokens from an engine that it gave up
    forgets_a_token,     ///< an engine that goes on with a request lacks its last token
    keeps_the_cache,     ///< when weights change that give other tokens
    believes_corruption  ///< goes on with a state whose checksum was made to fit again
};

/// Rules, checked in every schedule: every request is answered exactly once; its tokens and their
/// log-probabilities are those that it gets alone, in an engine without faults, from the weights of
/// the versions that its tokens name; a request that fails has the beginning of them, and fails
/// only where a NaN struck; no token is of a version that its engine had not committed, and
/// versions do not go back; a damaged state is refused; in the end no engine holds a block.
drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed = Misdeed::none);

/// `assay campaign decode`.
drive::Campaign campaign_modes();

}  // namespace assay::decode
