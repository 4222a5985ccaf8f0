#include "impls/hetermoe/policy/timeline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

namespace assay::hetermoe {
namespace {

// TaskTimes in an integer that holds a step: 64 bits where they do, for speed.
template <class Integer>
struct Durations {
    struct Pass {
        Integer attention, head, expert, moved;
        explicit Pass(const TaskTimes::Pass& pass)
            : attention(static_cast<Integer>(pass.attention)),
              head(static_cast<Integer>(pass.head)),
              expert(static_cast<Integer>(pass.expert)),
              moved(static_cast<Integer>(pass.moved)) {}
    };
    Pass forward, backward;
    Integer exchange;
    int residents;

    explicit Durations(const TaskTimes& times)
        : forward(times.forward),
          backward(times.backward),
          exchange(static_cast<Integer>(times.exchange)),
          residents(times.residents) {}

    Integer of(const StepShape& step, const Task& task) const {
        const bool last = task.layer > step.layers();
        switch (task.kind) {
            case TaskKind::AF:
                return last ? forward.head : forward.attention;
            case TaskKind::AB:
                return last ? backward.head : backward.attention;
            case TaskKind::EF:
                return forward.expert * (residents - step.offloaded(task.layer));
            case TaskKind::EB:
                return backward.expert * (residents - step.offloaded(task.layer));
            case TaskKind::XF:
                return forward.moved * step.offloaded(task.layer);
            case TaskKind::XB:
                return backward.moved * step.offloaded(task.layer);
            default:
                return exchange;
        }
    }
};

// Starts tasks one by one. Whoever calls it gives each queue's tasks in their order, and each after
// its producers; so per micro-batch three times are all that must be known.
template <class Integer>
class GroupClock {
  public:
    GroupClock(const TaskTimes& times, const StepShape& step)
        : durations_(times), step_(step), batches_(static_cast<std::size_t>(step.micro_batches)) {}

    struct Run {
        Integer start, end;
    };
    Run run(const Task& task) {
        Batch& batch = batches_[static_cast<std::size_t>(task.micro_batch - 1)];
        const bool joins = task.kind == TaskKind::CF || task.kind == TaskKind::DB;
        Integer& free = free_[static_cast<std::size_t>(queue_of(task.kind))];
        const Integer start = std::max(free, joins ? batch.computed : batch.passed);
        const Integer end = start + durations_.of(step_, task);
        free = end;
        switch (task.kind) {
            case TaskKind::EF:
            case TaskKind::XF:
            case TaskKind::EB:
            case TaskKind::XB:
                batch.computed = std::max(batch.computed, end);
                break;
            default:
                batch.passed = end;
        }
        return {start, end};
    }

  private:
    struct Batch {
        Integer passed = 0;    // end of its latest attention task or transfer
        Integer computed = 0;  // end of the latest of the layer's E and X
    };
    const Durations<Integer> durations_;
    const StepShape& step_;
    std::vector<Batch> batches_;
    std::array<Integer, queues> free_{};
};

template <class Integer>
Integer makespan_in(const TaskTimes& times, const StepShape& step) {
    GroupClock<Integer> clock(times, step);
    Integer end = 0;
    // The last task is the last one of the attention GPUs.
    in_zebra_order(step, [&](const Task& task) {
        const Integer ends = clock.run(task).end;
        if (task.kind == TaskKind::AF || task.kind == TaskKind::AB) end = ends;
    });
    return end;
}

}  // namespace

Ticks TaskTimes::of(const StepShape& step, const Task& task) const {
    return Durations<Ticks>(*this).of(step, task);
}

TaskTimes task_times(const TrainingProfile& profile, const Group& group, const Fraction& backward,
                     int micro_batches) {
    const Wide n = profile.experts, m = group.attention, shares = n / group.expert;
    TaskTimes times;
    times.residents = profile.experts / group.expert;
    const auto pass = [&](Wide factor) {
        TaskTimes::Pass made;
        made.attention = checked_product(*profile.new_kind.attention * n, factor);
        made.head = checked_product(profile.new_kind.head * n, factor);
        // T_E / (n/N) = expert·M/N·N/n; and T_X·N²/(nM) = expert·N/n.
        made.expert = checked_product(profile.old_kind.expert * m, factor);
        made.moved = checked_product(profile.new_kind.expert * Wide{group.expert}, factor);
        return made;
    };
    times.forward = pass(backward.denominator());
    times.backward = pass(backward.numerator());
    times.exchange =
        checked_product(profile.exchange * std::max(n, m * shares), backward.denominator());
    times.ticks_per_s = checked_product(Wide{1'000'000'000} * n, backward.denominator());

    const auto most = [&](const TaskTimes::Pass& made) {
        const Wide compute = checked_product(checked_sum(made.expert, made.moved), times.residents);
        return checked_sum(checked_product(checked_sum(compute, made.attention), profile.layers),
                           made.head);
    };
    const Wide transfers = checked_product(times.exchange, Wide{4} * profile.layers);
    times.longest = checked_product(
        checked_sum(checked_sum(most(times.forward), most(times.backward)), transfers),
        micro_batches);
    return times;
}

Timeline zebra_timeline(const TaskTimes& times, const StepShape& step) {
    GroupClock<Ticks> clock(times, step);
    Timeline timeline;
    in_zebra_order(step, [&](const Task& task) {
        const auto [start, end] = clock.run(task);
        timeline.push_back({task, start, end});
    });
    std::stable_sort(timeline.begin(), timeline.end(), [](const TimedTask& a, const TimedTask& b) {
        return std::tie(a.start, a.end) < std::tie(b.start, b.end);
    });
    return timeline;
}

Ticks zebra_makespan(const TaskTimes& times, const StepShape& step) {
    const bool narrow = times.longest <= std::numeric_limits<std::int64_t>::max();
    return narrow ? makespan_in<std::int64_t>(times, step) : makespan_in<Ticks>(times, step);
}

Timeline timeline(const TaskTimes& times, const StepShape& step, const QueueOrders& orders) {
    GroupClock<Ticks> clock(times, step);
    Timeline timeline;
    std::set<TaskName> done;
    std::array<std::size_t, queues> next{};
    const auto ready = [&](const Task& task) {
        const std::vector<Task> before = producers(step, task);
        return std::all_of(before.begin(), before.end(),
                           [&](const Task& producer) { return done.count(name_of(producer)) > 0; });
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t queue = 0; queue < queues; ++queue) {
            for (; next[queue] < orders[queue].size() && ready(orders[queue][next[queue]]);
                 ++next[queue], moved = true) {
                const Task& task = orders[queue][next[queue]];
                const auto [start, end] = clock.run(task);
                timeline.push_back({task, start, end});
                done.insert(name_of(task));
            }
        }
    }
    for (std::size_t queue = 0; queue < queues; ++queue)
        if (next[queue] < orders[queue].size())
            throw std::invalid_argument("the orders of the queues wait for each other");
    return timeline;
}

Ticks makespan(const Timeline& timeline) {
    Ticks end = 0;
    for (const TimedTask& timed : timeline) end = std::max(end, timed.end);
    return end;
}

Ticks busy(const TaskTimes& times, const StepShape& step, Queue queue) {
    const Ticks layers = step.layers(),
                moved = std::accumulate(step.offload.begin(), step.offload.end(), 0);
    const auto pass = [&](const TaskTimes::Pass& made) -> Ticks {
        switch (queue) {
            case Queue::attention:
                return layers * made.attention + made.head + moved * made.moved;
            case Queue::expert:
                return (layers * times.residents - moved) * made.expert;
            default:
                return layers * times.exchange;
        }
    };
    return step.micro_batches *
           (pass(times.forward) + (step.backward ? pass(times.backward) : Ticks{0}));
}

}  // namespace assay::hetermoe
