// The controller under a seeded schedule of deaths, hangs, departures, joins, changed paces and
// failed steps, with workers that do at once what they are told, in an order drawn from the seed.
// Instead of weights they hold, of every block, the step that it is the state before.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "impls/hetermoe/policy/controller/controller.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::hetermoe {

/// What a rule-breaking driver does to an action on its way; for tests that rules can be broken.
using Tampering = std::function<void(Action&)>;

/// Rules, checked in every schedule: a step is committed once every rank has reported it, and then
/// by all; every rank of a step holds each block that the layout gives it, as it is before that
/// step; blocks move from live holders of that very state, or all come from a checkpoint that was
/// whole; the lineage is 0, 1, 2 … to the last step, unless workers ran out; nobody waits
/// for ever; the same events lead to the same actions again.
drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, const Tampering& tampering = {});

/// What the controller is told and does in it.
std::vector<drive::Decision<Controller>> virtual_decisions(std::uint64_t seed);

}  // namespace assay::hetermoe
