// The shortest step over all orders of all queues, for small instances: what Theorem 1's order is
// held against.
#pragma once

#include "impls/hetermoe/policy/timeline.hpp"

namespace assay::hetermoe {

/// Exact, by dynamic programming over how far each micro-batch is. No experts may be offloaded
/// (std::invalid_argument): each micro-batch is then a chain of tasks. Time and memory grow with
/// (tasks of a micro-batch) to the power of micro-batches: meant for at most three layers and
/// three micro-batches.
Ticks shortest_step(const TaskTimes& times, const StepShape& step);

/// The queues' orders with transfers in the order of what produces them: what is left of `orders`
/// once somebody has changed those of attention and experts. Without offloaded experts.
QueueOrders with_transfers_in_turn(QueueOrders orders, const StepShape& step);

}  // namespace assay::hetermoe
