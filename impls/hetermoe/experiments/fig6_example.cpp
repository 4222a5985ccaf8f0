#include "impls/hetermoe/experiments/fig6_example.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "impls/hetermoe/policy/plan.hpp"

namespace assay::hetermoe {

// Attention is three quarters of an expert task: 33 % longer, as the text says.
Fig6Example fig6_example(const SampleSpec& spec, Nanoseconds expert_task) {
    Fig6Example example;
    TrainingProfile& profile = example.profile;
    profile.layers = 3;
    profile.experts = 6;
    profile.micro_batches = {Fig6Example::micro_batches};
    profile.new_kind.gpus = profile.old_kind.gpus = 1;
    profile.new_kind.attention = expert_task * 3 / 4;
    profile.new_kind.expert =
        std::llround(number_axis(spec, "expert_on_new") * static_cast<double>(expert_task));
    profile.old_kind.expert = expert_task;
    const Asym asym = spec.variant == "zebra" ? Asym::off : Asym::published;
    example.offload =
        spec.variant == "all_layers"
            ? std::vector{1, 1, 1}
            : offload_for(profile, {1, 1}, {.asym = asym}, Fig6Example::micro_batches).value();
    return example;
}

void record_fig6(std::span<const TaskRun> tasks, double expert_task_s, Recorder& recorder) {
    double end = 0, attention_busy = 0, expert_busy = 0, last_expert = 0;
    std::optional<double> first_expert;
    for (const auto& [task, start_s, end_s] : tasks) {
        const Queue queue = queue_of(task.kind);
        if (queue != Queue::attention && queue != Queue::expert) continue;
        end = std::max(end, end_s);
        (queue == Queue::attention ? attention_busy : expert_busy) += end_s - start_s;
        if (queue == Queue::attention) continue;
        first_expert = std::min(first_expert.value_or(start_s), start_s);
        last_expert = std::max(last_expert, end_s);
    }
    recorder.metric("makespan", end / expert_task_s);
    recorder.metric("attention_idle", (end - attention_busy) / expert_task_s);
    recorder.metric("expert_bubbles", 1 - expert_busy / (last_expert - first_expert.value()));
}

}  // namespace assay::hetermoe
