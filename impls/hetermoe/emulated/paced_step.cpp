#include "impls/hetermoe/emulated/paced_step.hpp"

#include <algorithm>
#include <map>

#include "impls/hetermoe/policy/expert_map.hpp"

namespace assay::hetermoe {
namespace {

bool is_backward(TaskKind kind) {
    return kind == TaskKind::AB || kind == TaskKind::XB || kind == TaskKind::EB;
}

// Of a layer's rows, those of all attention GPUs being 1, for the experts that a rank holds.
double share_of(const PacedStep& step, int rank, int layer) {
    const auto of_layer = static_cast<std::size_t>(layer - 1);
    const std::vector<int> held =
        homes(step.experts, step.layout.group, step.layout.offload[of_layer]);
    double share = 0;
    for (int expert = 0; expert < step.experts; ++expert)
        if (held[static_cast<std::size_t>(expert)] == rank)
            share += step.loads.empty() ? 1.0 / step.experts
                                        : step.loads[of_layer][static_cast<std::size_t>(expert)];
    return share;
}

}  // namespace

bool takes_part(const Layout& layout, int rank, const Task& task) {
    const Queue queue = queue_of(task.kind);
    return is_transfer(queue) || (queue == Queue::attention) == layout.is_attention(rank);
}

double expected_rows(const PacedStep& step, int rank, const Task& task) {
    if (task.layer > step.layout.layers()) return 0;
    const double to_experts = step.layout.group.attention * share_of(step, rank, task.layer);
    if (!is_transfer(queue_of(task.kind))) return to_experts;
    if (step.loads.empty()) return 1;
    return std::max(step.layout.is_attention(rank) ? 1.0 : 0.0, to_experts);
}

double task_s(const PacedStep& step, int rank, const Task& task, double rows) {
    const GpuSeconds& gpu = step.ranks[static_cast<std::size_t>(rank)];
    const double times = is_backward(task.kind) ? step.backward : 1;
    switch (task.kind) {
        case TaskKind::AF:
        case TaskKind::AB:
            return times * (task.layer > step.layout.layers() ? gpu.head : gpu.attention);
        case TaskKind::XF:
        case TaskKind::EF:
        case TaskKind::XB:
        case TaskKind::EB:
            return times * gpu.expert * rows;
        default:
            return step.exchange_s * rows;
    }
}

std::vector<TaskRun> planned_runs(const PacedStep& step) {
    const StepShape shape = step.shape();
    std::vector<TaskRun> runs;
    std::map<std::pair<int, TaskName>, double> ends;
    std::map<std::pair<int, Queue>, double> free;  // from when on
    in_zebra_order(shape, [&](const Task& task) {
        const Queue queue = queue_of(task.kind);
        const std::size_t first = runs.size();
        double all_there_s = 0;
        for (int rank = 0; rank < step.size(); ++rank) {
            if (!takes_part(step.layout, rank, task)) continue;
            double ready_s = free[{rank, queue}];
            for (const Task& cause : causes(shape, task))
                if (const auto end = ends.find({rank, name_of(cause)}); end != ends.end())
                    ready_s = std::max(ready_s, end->second);
            all_there_s = std::max(all_there_s, ready_s);
            runs.push_back({.rank = rank,
                            .task = task,
                            .arrived_s = ready_s,
                            .start_s = ready_s,
                            .end_s = 0,
                            .held_s = task_s(step, rank, task, expected_rows(step, rank, task))});
        }
        for (std::size_t i = first; i < runs.size(); ++i) {
            TaskRun& run = runs[i];
            if (is_transfer(queue)) run.start_s = all_there_s;
            run.end_s = run.start_s + run.held_s;
            free[{run.rank, queue}] = ends[{run.rank, name_of(task)}] = run.end_s;
        }
    });
    return runs;
}

}  // namespace assay::hetermoe
