#include "impls/hetermoe/emulated/paced_training.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "impls/tensors/needs.hpp"

#ifdef ASSAY_HETERMOE_LIVE
#include "impls/hetermoe/tensor_functions.hpp"
#endif

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

std::vector<PacedRun> run_paced([[maybe_unused]] std::span<const PacedPlan> plans) {
    if (auto lacks = tensors::lacks(tensors::Needs::processes))
        throw SampleError(SampleStatus::unsupported, *std::move(lacks));
#ifdef ASSAY_HETERMOE_LIVE
    return tensor_functions().run_paced(plans);
#else
    return {};
#endif
}

std::vector<MetricSpec> lateness_metrics() {
    return {
        {"late", "share", "the most of a step that is lateness; above 3 % the sample is invalid",
         Direction::lower},
        {"attempts", "count", "at all steps, until they were late by no more"},
        {"difference", "ratio", "of weights from those that one process computes",
         Direction::lower}};
}

void record_lateness(const PacedRun& run, Recorder& recorder) {
    recorder.metric("late", run.late());
    recorder.metric("attempts", run.attempts());
    recorder.metric("difference", run.difference);
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
