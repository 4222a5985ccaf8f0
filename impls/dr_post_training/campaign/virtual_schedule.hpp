// The guard of a training under a seeded schedule of kills, hangs, damaged tensors, NaN, full disks
// and torn checkpoints, with a worker that does at once what it is told. Instead of weights,
// moments and selections it has one number, which every step changes as a step would: out of
// itself.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/dr_post_training/policy/guard/guard.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::dr_post_training {

/// What the worker or driver of a schedule does wrong, for tests that rules can be broken.
enum class Misdeed {
    none,
    ignores_damage,      ///< does not compare its state with the one that an order names
    applies_nan,         ///< says that everything was finite, and applies what was not
    believes_torn,       ///< takes the state of a torn checkpoint for whole
    stores_repeated,     ///< stores a step again when it is applied again
    forgets_a_selection  ///< a step that is computed again selects other rows
};

/// Rules, checked in every schedule: every step is stored once, in order, with the digest that it
/// has in a training without faults; so has the state at the end; no checkpoint under its name
/// holds another state than that of its step, unless it is torn; the training ends well unless a
/// step's numbers were not finite twice in a row, and then says so; nobody waits for ever; the same
/// events lead to the same actions again.
drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed = Misdeed::none);

/// What the guard is told and does in it.
std::vector<drive::Decision<Guard>> virtual_decisions(std::uint64_t seed);

}  // namespace assay::dr_post_training
