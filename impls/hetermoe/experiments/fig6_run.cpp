// Fig. 6 between two paced processes.
#include <fmt/format.h>

#include <cmath>

#include "impls/hetermoe/emulated/paced_pair.hpp"
#include "impls/hetermoe/experiments/fig6_example.hpp"
#include "impls/hetermoe/policy/timeline.hpp"
#include "impls/hetermoe/tensor_functions.hpp"

namespace assay::hetermoe {
namespace {

// Of the makespan, all tasks of a process together, whether others wait for them or not: more, and
// the machine is too slow for the model.
constexpr double most_overrun = 0.05;

void record_tasks(std::span<const TaskRun> tasks, Recorder& recorder) {
    std::vector<std::vector<Value>> rows;
    for (const auto& [task, start_s, end_s] : tasks)
        rows.push_back({std::string(to_string(task.kind)), std::int64_t{task.layer},
                        std::int64_t{task.micro_batch}, start_s, end_s});
    const std::vector<TableColumn> columns{
        {"task", ""}, {"layer", ""}, {"micro_batch", ""}, {"start_s", "s"}, {"end_s", "s"}};
    recorder.table("tasks", columns, rows);
}

}  // namespace

void run_fig6(const SampleSpec& spec, Recorder& recorder) {
    const Fig6Example example = fig6_example(spec, std::llround(fig6_expert_task_s * 1e9));
    const PacedPass pass = run_paced_pair({.profile = example.profile,
                                           .offload = example.offload,
                                           .micro_batches = Fig6Example::micro_batches});
    const TaskTimes times =
        task_times(example.profile, {1, 1}, Fraction(1), Fig6Example::micro_batches);
    const double computed_s = times.seconds(zebra_makespan(times, example.step()));
    record_fig6(pass.tasks, fig6_expert_task_s, recorder);
    recorder.metric("timeline_error", pass.tasks.back().end_s / computed_s - 1);
    recorder.metric("difference", pass.difference);
    record_tasks(pass.tasks, recorder);
    if (pass.difference > 0)
        throw SampleError(
            SampleStatus::failed,
            fmt::format("the pass of two processes differs by {} from one's", pass.difference));
    if (pass.late_s > most_overrun * computed_s)
        throw SampleError(SampleStatus::invalid,
                          fmt::format("real work took {:.3f} s longer than its tasks should: this "
                                      "machine is too slow, or too busy",
                                      pass.late_s));
}

}  // namespace assay::hetermoe
