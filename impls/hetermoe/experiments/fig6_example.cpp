#include "impls/hetermoe/experiments/fig6_example.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "impls/hetermoe/policy/plan.hpp"

namespace assay::hetermoe {

// Attention is three quarters of an expert task: 33 % longer, as the text says.
Fig6Example fig6_example(const Fig6& fig6, Nanoseconds expert_task) {
    Fig6Example example;
    TrainingProfile& profile = example.profile;
    profile.layers = 3;
    profile.experts = 6;
    profile.micro_batches = {Fig6Example::micro_batches};
    profile.new_kind.gpus = profile.old_kind.gpus = 1;
    profile.new_kind.attention = expert_task * 3 / 4;
    profile.new_kind.expert = std::llround(fig6.expert_on_new * static_cast<double>(expert_task));
    profile.old_kind.expert = expert_task;
    const Asym asym = fig6.moves == Fig6Moves::zebra ? Asym::off : Asym::published;
    example.offload =
        fig6.moves == Fig6Moves::all_layers
            ? std::vector{1, 1, 1}
            : offload_for(profile, {1, 1}, {.asym = asym}, Fig6Example::micro_batches).value();
    return example;
}

PacedPlan fig6_plan(const Fig6& fig6) {
    const Fig6Example example = fig6_example(fig6, 1'000'000'000);
    PacedPlan plan;
    plan.steps = {{.layout = {.group = {1, 1},
                              .groups = 1,
                              .micro_batches = Fig6Example::micro_batches,
                              .offload = example.offload,
                              .ranks = {0, 1}},
                   .experts = example.profile.experts,
                   .ranks = {{.attention = 0.75, .expert = fig6.expert_on_new}, {.expert = 1}},
                   .backward = 0}};
    plan.scale = fig6_expert_task_s;
    plan.sequences = Fig6Example::micro_batches;
    plan.seed = fig6.seed;
    plan.most_late = 0.005;
    return plan;
}

void record_fig6(std::span<const TaskRun> runs, const Fig6Found& found) {
    double end = 0, attention_busy = 0, expert_busy = 0, last_expert = 0;
    std::optional<double> first_expert;
    for (const TaskRun& run : runs) {
        const Queue queue = queue_of(run.task.kind);
        if (is_transfer(queue)) continue;
        end = std::max(end, run.end_s);
        (queue == Queue::attention ? attention_busy : expert_busy) += run.held_s;
        if (queue == Queue::attention) continue;
        first_expert = std::min(first_expert.value_or(run.start_s), run.start_s);
        last_expert = std::max(last_expert, run.end_s);
    }
    found.makespan(end);
    found.attention_idle(end - attention_busy);
    found.expert_bubbles(1 - expert_busy / (last_expert - first_expert.value()));
}

}  // namespace assay::hetermoe
