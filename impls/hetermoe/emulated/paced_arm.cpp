#include "impls/hetermoe/emulated/paced_arm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "impls/hetermoe/emulated/task_runs.hpp"
#include "impls/hetermoe/simulated/lockstep.hpp"

namespace assay::hetermoe {
namespace {

constexpr std::array paced{Arm::zebra,   Arm::hetermoe, Arm::search,
                           Arm::dist_ep, Arm::ep,       Arm::ep_ideal};

Layout layout_of(const Group& group, int micro_batches, std::vector<int> offload) {
    return {.group = group,
            .groups = 1,
            .micro_batches = micro_batches,
            .offload = std::move(offload),
            .ranks = ranks_from(0, group.attention + group.expert)};
}

PacedArm::Part part_of(PacedStep step, double sequences, const Point& point, double real_s) {
    const double at_least = step.layout.attention_ranks() * step.layout.micro_batches;
    PacedPlan plan;
    plan.sequences = std::llround(std::max(at_least, sequences));
    plan.scale = scale_for(step, real_s);
    const auto [new_ranks, old_ranks] = step.layout.group;
    plan.steps = {std::move(step)};
    return {.plan = std::move(plan),
            .tokens = sequences * point.tokens,
            .new_ranks = new_ranks,
            .old_ranks = old_ranks};
}

PacedArm::Part lockstep_part(const Point& point, const Lockstep& lockstep, double real_s) {
    const int all = lockstep.gpus(), experts = point.model.experts;
    if (!lockstep.split && experts % all != 0)
        throw SampleError(SampleStatus::unsupported,
                          fmt::format("{} experts on {} GPUs: fractions of experts are simulated "
                                      "only",
                                      experts, all));
    const std::vector<int> moved(static_cast<std::size_t>(point.model.layers),
                                 lockstep.split ? 0 : experts);
    const Group group =
        lockstep.split ? Group{lockstep.new_gpus, lockstep.old_gpus} : Group{all, 1};
    PacedStep step{.layout = layout_of(group, 1, moved),
                   .experts = experts,
                   .exchange_s = lockstep.exchange_s * lockstep.exposed(),
                   .backward = backward_over_forward};
    GpuSeconds of_old = lockstep.of_old;
    // A rank's experts are asked for by rows of an attention GPU, of which M / N come.
    if (lockstep.split) of_old.expert *= double(group.expert) / group.attention;
    step.ranks.assign(static_cast<std::size_t>(lockstep.new_gpus), lockstep.of_new);
    step.ranks.insert(step.ranks.end(), static_cast<std::size_t>(lockstep.old_gpus), of_old);
    step.ranks.resize(step.layout.ranks.size());  // where each has both, one has nothing
    auto part = part_of(std::move(step), lockstep.sequences, point, real_s);
    part.new_ranks = lockstep.new_gpus;
    part.old_ranks = lockstep.old_gpus;
    return part;
}

// Of a step of a part: the mean share in which ranks compute.
std::optional<double> busy(const PacedStepRun& step, int first, int ranks, double efficiency) {
    if (ranks == 0) return std::nullopt;
    double held = 0;
    for (const TaskRun& run : step.runs)
        if (!is_transfer(queue_of(run.task.kind)) && run.rank >= first && run.rank < first + ranks)
            held += run.held_s;
    return held / ranks / step.length_s * efficiency;
}

}  // namespace

std::vector<PacedPlan> PacedArm::plans() const {
    std::vector<PacedPlan> plans;
    for (const Part& part : parts) plans.push_back(part.plan);
    return plans;
}

ArmResult PacedArm::result(std::span<const PacedRun> runs) const {
    ArmResult result;
    for (std::size_t i = 0; i < parts.size(); ++i)
        result.tokens_per_s += efficiency * parts[i].tokens / runs[i].steps.front().length_s;
    const Layout& layout = parts.front().plan.steps.front().layout;
    result.micro_batches = layout.micro_batches;
    if (parts.size() > 1) return result;
    const PacedStepRun& step = runs.front().steps.front();
    const auto [plan, tokens, new_ranks, old_ranks] = parts.front();
    result.new_busy = busy(step, 0, new_ranks, efficiency);
    result.old_busy = busy(step, new_ranks, old_ranks, efficiency);
    return result;
}

PacedStep group_step(const Point& point, const ArmResult& planned) {
    const Group group{point.new_gpus.gpus, point.old_gpus.gpus};
    const PointTimes times = times_of(point, double(point.batch) / planned.micro_batches);
    PacedStep step{
        .layout = layout_of(group, planned.micro_batches, planned.offload),
        .experts = point.model.experts,
        .exchange_s = times.exchange_s * std::max(1.0, double(group.attention) / group.expert),
        .backward = backward_over_forward};
    step.ranks.assign(static_cast<std::size_t>(group.attention), times.of_new);
    step.ranks.resize(step.layout.ranks.size(), {.expert = times.of_old.expert});
    return step;
}

bool can_be_paced(Arm arm) { return std::find(paced.begin(), paced.end(), arm) != paced.end(); }

PacedArm paced_arm(const Point& point, Arm arm, const ArmResult& simulated, double real_s) {
    if (arm == Arm::zebra || arm == Arm::hetermoe || arm == Arm::search)
        return {.parts = {part_of(group_step(point, simulated), point.sequences(), point, real_s)},
                .efficiency = efficiency_of(point.calibration)};
    PacedArm made;
    for (const Lockstep& lockstep : locksteps(point, arm))
        made.parts.push_back(lockstep_part(point, lockstep, real_s));
    return made;
}

}  // namespace assay::hetermoe
