// Runs the tasks of a step in one process of a group: a thread for each queue that the process has
// a part in, each in the planned order. A task starts when the one before it in its queue and those
// of this process that it waits for are done; what it waits for elsewhere comes by its transfer.
#pragma once

#include <functional>
#include <vector>

#include "impls/hetermoe/policy/tasks.hpp"

namespace assay::hetermoe {

/// Which kind of GPU a process stands for: the other computes elsewhere; both take part in every
/// transfer.
enum class Side { attention, expert };

/// When a task ran, in seconds since the step began.
struct TaskRun {
    Task task;
    double start_s = 0, end_s = 0;
};

struct StepExecution {
    Side side = Side::attention;
    StepShape step;
    double start_s = 0;  ///< of cluster::monotonic_s(): when the step begins
    /// The task's real work, called by its queue's thread. Transfers of one queue are called in one
    /// order on both sides, and return when both ends have been there.
    std::function<void(const Task&)> work;
    /// Real seconds that the modelled GPU takes for it; the queue is held for so long.
    std::function<double(const Task&)> modelled_s;
    /// Makes transfers that wait throw: called once when a task has thrown.
    std::function<void()> abort;
};

struct StepRun {
    std::vector<TaskRun> tasks;  ///< of this side, transfers too, queue by queue
    double late_s = 0;  ///< of what it computes and sends: by how much the real work took longer
                        ///< than the modelled GPU and link
};

/// Throws what the first task that failed threw.
StepRun execute(const StepExecution& execution);

}  // namespace assay::hetermoe
