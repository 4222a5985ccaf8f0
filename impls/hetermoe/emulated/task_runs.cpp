#include "impls/hetermoe/emulated/task_runs.hpp"

#include <algorithm>
#include <map>

namespace assay::hetermoe {
namespace {

bool ends_later(const TaskRun* a, const TaskRun* b) { return !a || (b && b->end_s > a->end_s); }

}  // namespace

double makespan_s(std::span<const TaskRun> runs) {
    double end = 0;
    for (const TaskRun& run : runs) end = std::max(end, run.end_s);
    return end;
}

double late_s(const StepShape& step, std::span<const TaskRun> runs) {
    std::map<std::pair<int, TaskName>, const TaskRun*> by_name;
    std::map<const TaskRun*, const TaskRun*> before;  // in its queue
    std::map<std::pair<int, Queue>, const TaskRun*> newest;
    const TaskRun* last = nullptr;
    for (const TaskRun& run : runs) {
        by_name[{run.rank, name_of(run.task)}] = &run;
        before[&run] = std::exchange(newest[{run.rank, queue_of(run.task.kind)}], &run);
        if (ends_later(last, &run)) last = &run;
    }
    const double makespan = makespan_s(runs);
    double held = 0;
    while (last) {
        held += last->held_s;
        // Of an exchange the rank that came last.
        if (!computes(last->task))
            for (const TaskRun& run : runs)
                if (run.task == last->task && run.arrived_s > last->arrived_s) last = &run;
        const TaskRun* cause = before[last];
        for (const Task& task : causes(step, last->task))
            if (const auto found = by_name.find({last->rank, name_of(task)});
                found != by_name.end() && ends_later(cause, found->second))
                cause = found->second;
        last = cause;
    }
    return makespan - held;
}

}  // namespace assay::hetermoe
