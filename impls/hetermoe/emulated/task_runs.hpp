// When the tasks of a step ran on each rank, and how much of its length is lateness.
#pragma once

#include <span>
#include <vector>

#include "impls/hetermoe/policy/tasks.hpp"
#include "suite/drive/messages.hpp"

namespace assay::hetermoe {

/// One task on one rank, seconds since the step began.
struct TaskRun {
    int rank = 0;
    Task task;
    double arrived_s = 0;  ///< the rank turned to it
    double start_s = 0;    ///< … and of an exchange, the last of all ranks did
    double end_s = 0;
    double held_s = 0;  ///< as long as the modelled GPU or link takes
};

/// The end of the last one.
double makespan_s(std::span<const TaskRun> runs);

/// By how much a step took longer than the modelled GPUs would: of the tasks that followed one
/// another without a gap up to the last end (each back to what ended last before it: the task
/// before it in its queue, what it waits for, the rank that was last at an exchange), the part of
/// the makespan in which they were not held: real work that took longer, waking up, being started
/// late. The makespan on a machine without lateness is between the one found and that less this.
double late_s(const StepShape& step, std::span<const TaskRun> runs);

ASSAY_ROW(Task, kind, layer, micro_batch)
ASSAY_ROW(TaskRun, rank, task, arrived_s, start_s, end_s, held_s)

}  // namespace assay::hetermoe
