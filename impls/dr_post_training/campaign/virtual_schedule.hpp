// The guard of a training and its worker in virtual time, under a seeded schedule of kills, hangs,
// damaged tensors, NaN, full disks and torn checkpoints. How long each message, detection and piece
// of work takes is drawn from the seed, so that a late answer races with the guard's patience. The
// worker is elastic::member, as in a process, on one number (number_member.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "impls/dr_post_training/policy/guard/guard.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::dr_post_training {

/// What the worker or driver of a schedule does wrong, for tests that rules can be broken.
enum class Misdeed {
    none,
    ignores_damage,       ///< does not compare its state with the digest that it said
    applies_nan,          ///< says that everything was finite, and applies what was not
    believes_torn,        ///< takes the state of a torn checkpoint for whole
    stores_repeated,      ///< stores a step again when it is applied again
    forgets_a_selection,  ///< a step that is computed again selects other rows
    believes_the_evicted  ///< goes on with what a worker says after its eviction
};

/// Rules, checked in every schedule: every step is stored once, in order, with the digest that it
/// has in a training without faults, and on the word of a worker that is in force; so is the state
/// at the end; no checkpoint under its name holds another state than that of its step, unless it is
/// torn; the training ends well unless a step's numbers were not finite twice in a row, or too many
/// recoveries in a row brought no step, and then says so; none waits for ever; the same events lead
/// to the same actions again.
drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed = Misdeed::none);

/// The same with these settings and faults; the seed draws how long anything takes.
drive::SeedOutcome run_virtual_training(const GuardSettings& settings, const FaultPlan& faults,
                                        std::uint64_t seed);

/// What the guard is told and does in it.
std::vector<drive::Decision<Guard>> virtual_decisions(std::uint64_t seed);

}  // namespace assay::dr_post_training
