// The controller and members of HeterMoE's training in virtual time, under a seeded schedule of
// deaths, hangs, departures, joins, changed paces and failed steps. How long each message,
// detection and piece of work takes is drawn from the seed, so that a late one races with whatever
// happens meanwhile. Members are elastic::member, as in processes, without weights
// (block_member.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "impls/hetermoe/policy/controller/controller.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::hetermoe {

/// What a rule-breaking driver does to the actions of a decision on their way; for tests that rules
/// can be broken.
using Tampering = std::function<void(std::vector<Action>&)>;

/// Rules, checked in every schedule: a step is committed once every rank has reported it, and then
/// by all; none applies a step that it has not computed in that epoch; every rank of a step holds
/// each block that the layout gives it, as it is before that step in this history; blocks move from
/// members that have that very state, or all come from a checkpoint that is whole and of this
/// history; the lineage is 0, 1, 2 … to the last step, unless workers ran out; none waits for ever;
/// the same events lead to the same actions again.
drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, const Tampering& tampering = {});

/// The same with these settings, and with faults made for processes and keyed by step; the seed
/// draws how long anything takes. Frozen workers are ended before their group breaks, and who joins
/// in a step is there when it ends.
drive::SeedOutcome run_virtual_training(const ControllerSettings& settings, FaultPlan faults,
                                        std::uint64_t seed);

/// What the controller is told and does in it.
std::vector<drive::Decision<Controller>> virtual_decisions(std::uint64_t seed);

}  // namespace assay::hetermoe
