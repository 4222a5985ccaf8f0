// A service of engines, requests that come to it, weights that are published, and a seeded schedule
// of faults: in virtual time, or with engines that are processes, whose kills and hangs are real.
#pragma once

#include <cstdint>

#include "impls/decode/campaign/rules.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::decode {

// Rules, checked in every schedule: every request is answered exactly once; its tokens and their
// log-probabilities are those that it gets alone, in this process, from the weights of the versions
// that its tokens name; one that fails has the beginning of them, and fails only where a NaN
// struck; no token is of a version that its engine had not committed, and versions do not go back;
// a damaged state is refused, and no other, and keys and values of other weights; one finds no
// blocks only where sequences are kept; in the end no engine holds a block, and all leave in
// order.

/// Every message, detection and load takes a time of its own, so that late words race with
/// timeouts.
drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed = Misdeed::none);
/// Forks: to be called in a process with one thread. Seeds take turns in what is served: hashes, or
/// a small model on the processor, both paced.
drive::SeedOutcome run_live_schedule(std::uint64_t seed, Misdeed misdeed = Misdeed::none);

}  // namespace assay::decode
