// When the tasks of a step start and end: four queues, each in its order; a task starts once what
// it waits for and the one before it in its queue are done.
#pragma once

#include <vector>

#include "impls/hetermoe/policy/fraction.hpp"
#include "impls/hetermoe/policy/profile.hpp"
#include "impls/hetermoe/policy/tasks.hpp"

namespace assay::hetermoe {

/// A time in ticks: exact. How long one is says TaskTimes.
using Ticks = Wide;

/// What each task of a group takes. Every duration is a whole number of ticks, since N divides the
/// number of experts: a tick is a nanosecond divided by experts and by the denominator of F.
struct TaskTimes {
    Fraction ticks_per_s;
    int residents = 0;  ///< experts of a layer on an expert GPU before any moves
    struct Pass {
        Ticks attention = 0, head = 0;
        Ticks expert = 0;  ///< on an expert GPU, for each expert of the layer that it keeps
        Ticks moved = 0;   ///< on an attention GPU, for each that every expert GPU gives up
    };
    Pass forward, backward;
    Ticks exchange = 0;
    Ticks longest = 0;  ///< of a step: at least all of its tasks one after the other

    Ticks of(const StepShape& step, const Task& task) const;
    double seconds(Ticks ticks) const { return (Fraction(ticks) / ticks_per_s).value(); }
};

/// `backward`: F, how many times longer a backward task is than its forward one; exchanges are not.
/// The number of expert GPUs divides that of experts. Throws TooLargeToStayExact unless a step of
/// `micro_batches`, all of its tasks one after the other, fits into Ticks.
TaskTimes task_times(const TrainingProfile& profile, const Group& group, const Fraction& backward,
                     int micro_batches);

struct TimedTask {
    Task task;
    Ticks start = 0, end = 0;
    bool operator==(const TimedTask&) const = default;
};
using Timeline = std::vector<TimedTask>;

/// In Theorem 1's order. By start, then end, then as in_zebra_order() has them.
Timeline zebra_timeline(const TaskTimes& times, const StepShape& step);

/// The end of its last task.
Ticks zebra_makespan(const TaskTimes& times, const StepShape& step);

/// In any order of each queue. Throws std::invalid_argument where the orders wait for each other.
Timeline timeline(const TaskTimes& times, const StepShape& step, const QueueOrders& orders);

Ticks makespan(const Timeline& timeline);

/// How long a queue computes, or transfers, in a step; it is the same in every order.
Ticks busy(const TaskTimes& times, const StepShape& step, Queue queue);

}  // namespace assay::hetermoe
