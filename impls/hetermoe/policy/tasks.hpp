// The tasks of one training step of a zebra group, and Theorem 1's order of them (section 4.1).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::hetermoe {

/// A: attention and gate; X: experts on attention GPUs; E: experts on expert GPUs; D: dispatch,
/// C: combine. F: forward, B: backward. Backward a CB carries gradients of expert outputs to the
/// expert GPUs, a DB those of expert inputs back.
enum class TaskKind { AF, XF, EF, DF, CF, AB, XB, EB, CB, DB };
ASSAY_NAMES(TaskKind, AF, XF, EF, DF, CF, AB, XB, EB, CB, DB)

struct Task {
    TaskKind kind = TaskKind::AF;
    int layer = 1;        ///< from 1; one more than there are layers: the last stage
    int micro_batch = 1;  ///< from 1
    bool operator==(const Task&) const = default;
};

using TaskName = std::tuple<TaskKind, int, int>;
constexpr TaskName name_of(const Task& task) { return {task.kind, task.layer, task.micro_batch}; }

/// What runs its tasks one after the other. Out and in are seen from the attention GPUs.
enum class Queue { attention, expert, link_out, link_in };
constexpr std::size_t queues = 4;

constexpr Queue queue_of(TaskKind kind) {
    switch (kind) {
        case TaskKind::EF:
        case TaskKind::EB:
            return Queue::expert;
        case TaskKind::DF:
        case TaskKind::CB:
            return Queue::link_out;
        case TaskKind::CF:
        case TaskKind::DB:
            return Queue::link_in;
        default:
            return Queue::attention;
    }
}

constexpr bool is_transfer(Queue queue) {
    return queue == Queue::link_out || queue == Queue::link_in;
}
/// Or it moves rows.
constexpr bool computes(const Task& task) { return !is_transfer(queue_of(task.kind)); }

/// What a step consists of.
struct StepShape {
    int micro_batches = 0;
    /// Experts of each layer that every expert GPU gives up to attention GPUs; its length is the
    /// number of layers. A layer without any has no X tasks.
    std::span<const int> offload;
    bool backward = true;  ///< false: the forward pass alone

    int layers() const { return static_cast<int>(offload.size()); }
    int offloaded(int layer) const { return offload[static_cast<std::size_t>(layer - 1)]; }
};

/// Calls visit(Task) for every task of a step: those of one queue in the order that Theorem 1 gives
/// it, and each after those that it waits for. X tasks follow the attention tasks of their layer
/// forward, and precede them backward; transfers are in the order of what produces them.
template <class Visit>
void in_zebra_order(const StepShape& step, Visit&& visit) {
    const int last = step.layers() + 1, all = step.micro_batches;
    for (int l = 1; l < last; ++l) {
        for (int j = 1; j <= all; ++j) {
            visit(Task{TaskKind::AF, l, j});
            visit(Task{TaskKind::DF, l, j});
            visit(Task{TaskKind::EF, l, j});
        }
        const bool moved = step.offloaded(l) > 0;
        for (int j = 1; j <= all; ++j) {
            if (moved) visit(Task{TaskKind::XF, l, j});
            visit(Task{TaskKind::CF, l, j});
        }
    }
    for (int j = 1; j <= all; ++j) {
        visit(Task{TaskKind::AF, last, j});
        if (!step.backward) continue;
        visit(Task{TaskKind::AB, last, j});
        visit(Task{TaskKind::CB, last - 1, j});
        visit(Task{TaskKind::EB, last - 1, j});
    }
    for (int l = last - 1; step.backward && l > 0; --l) {
        const bool moved = step.offloaded(l) > 0;
        for (int j = 1; j <= all; ++j) {
            if (moved) visit(Task{TaskKind::XB, l, j});
            visit(Task{TaskKind::DB, l, j});
        }
        for (int j = 1; j <= all; ++j) {
            visit(Task{TaskKind::AB, l, j});
            if (l == 1) continue;
            visit(Task{TaskKind::CB, l - 1, j});
            visit(Task{TaskKind::EB, l - 1, j});
        }
    }
}

/// An order of each queue's tasks, by Queue.
using QueueOrders = std::array<std::vector<Task>, queues>;
QueueOrders zebra_orders(const StepShape& step);

/// The tasks that must have ended before `task` starts, whatever its queue does.
std::vector<Task> producers(const StepShape& step, const Task& task);
/// What a rank waits for before a task, of what it takes part in: the task's producers, and for
/// what comes back that the same has gone out: rows are split alike, which a rank without experts
/// learns there.
std::vector<Task> causes(const StepShape& step, const Task& task);

}  // namespace assay::hetermoe
