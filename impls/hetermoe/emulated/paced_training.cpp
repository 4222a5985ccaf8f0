#include "impls/hetermoe/emulated/paced_training.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::hetermoe {

double PacedRun::late() const {
    double most = 0;
    for (const PacedStepRun& step : steps) most = std::max(most, step.late);
    return most;
}

int PacedRun::attempts() const {
    int sum = 0;
    for (const PacedStepRun& step : steps) sum += step.attempts;
    return sum;
}

void require_punctual(const PacedPlan& plan, const PacedRun& run) {
    if (run.late() > plan.most_late)
        throw SampleError(
            SampleStatus::invalid,
            fmt::format("{:.1f} % of a step is lateness, more than {:.1f} %, in the best of {} "
                        "attempts: this machine is too slow, or too busy",
                        100 * run.late(), 100 * plan.most_late, plan.attempts));
}

double scale_for(const PacedStep& step, double real_s) {
    return real_s / makespan_s(planned_runs(step));
}

void record_tasks(const PacedStepRun& step, Recorder& recorder) {
    std::vector<std::vector<Value>> rows;
    for (const TaskRun& run : step.runs)
        rows.push_back({std::string(to_string(run.task.kind)), std::int64_t{run.task.layer},
                        std::int64_t{run.task.micro_batch}, std::int64_t{run.rank}, run.start_s,
                        run.end_s});
    const std::vector<TableColumn> columns{{"task", ""}, {"layer", ""},    {"micro_batch", ""},
                                           {"rank", ""}, {"start_s", "s"}, {"end_s", "s"}};
    recorder.table("tasks", columns, rows);
}

}  // namespace assay::hetermoe
