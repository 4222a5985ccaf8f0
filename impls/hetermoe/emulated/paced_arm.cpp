#include "impls/hetermoe/emulated/paced_arm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "impls/hetermoe/emulated/task_runs.hpp"

namespace assay::hetermoe {
namespace {

constexpr std::array paced{Arm::zebra,   Arm::hetermoe, Arm::search,
                           Arm::dist_ep, Arm::ep,       Arm::ep_ideal};

Layout layout_of(const Group& group, int micro_batches, std::vector<int> offload) {
    Layout layout{
        .group = group,
        .groups = 1,
        .micro_batches = micro_batches,
        .offload = std::move(offload),
        .ranks = std::vector<Worker>(static_cast<std::size_t>(group.attention + group.expert))};
    std::iota(layout.ranks.begin(), layout.ranks.end(), 0);
    return layout;
}

std::vector<int> in_every_layer(const Point& point, int experts) {
    return std::vector<int>(static_cast<std::size_t>(point.model.layers), experts);
}

PacedArm::Part part_of(PacedStep step, double sequences, const Point& point, double real_s) {
    const double at_least = step.layout.attention_ranks() * step.layout.micro_batches;
    PacedPlan plan;
    plan.sequences = std::llround(std::max(at_least, sequences));
    plan.scale = scale_for(step, real_s);
    plan.steps = {std::move(step)};
    return {.plan = std::move(plan), .tokens = sequences * point.tokens};
}

// New GPUs compute attention, old ones experts.
PacedStep split_step(const Point& point, Layout layout, const GpuSeconds& of_new,
                     const GpuSeconds& of_old, double exchange_s) {
    PacedStep step{.layout = std::move(layout),
                   .experts = point.model.experts,
                   .exchange_s = exchange_s,
                   .backward = backward_over_forward};
    const auto [m, n] = step.layout.group;
    step.ranks.assign(static_cast<std::size_t>(m), of_new);
    step.ranks.insert(step.ranks.end(), static_cast<std::size_t>(n), {.expert = of_old.expert});
    return step;
}

PacedArm::Part split_part(PacedStep step, const Point& point, double real_s) {
    auto part = part_of(std::move(step), point.sequences(), point, real_s);
    part.new_ranks = point.new_gpus.gpus;
    part.old_ranks = point.old_gpus.gpus;
    return part;
}

// Every GPU has its sequences and its experts.
PacedArm::Part ep_part(const Point& point, int new_gpus, int old_gpus, double real_s) {
    const int all = new_gpus + old_gpus;
    if (point.model.experts % all != 0)
        throw SampleError(SampleStatus::unsupported,
                          fmt::format("{} experts on {} GPUs: fractions of experts are simulated "
                                      "only",
                                      point.model.experts, all));
    const double of_gpu = point.sequences() / (point.new_gpus.gpus + point.old_gpus.gpus);
    const PointTimes times = times_of(point, of_gpu);
    const double exchange_s = times.exchange_s * travelling(all),
                 expert_s = std::max(new_gpus > 0 ? times.of_new.expert : 0.0,
                                     old_gpus > 0 ? times.of_old.expert : 0.0);
    PacedStep step{
        .layout = layout_of({all, 1}, 1, in_every_layer(point, point.model.experts)),
        .experts = point.model.experts,
        .exchange_s = exchange_s * exposed_share(exchange_s, expert_s, backward_over_forward,
                                                 times.piece_s, Links::shared),
        .backward = backward_over_forward};
    step.ranks.assign(static_cast<std::size_t>(new_gpus), times.of_new);
    step.ranks.insert(step.ranks.end(), static_cast<std::size_t>(old_gpus), times.of_old);
    step.ranks.push_back({});
    auto part = part_of(std::move(step), of_gpu * all, point, real_s);
    part.new_ranks = new_gpus;
    part.old_ranks = old_gpus;
    return part;
}

PacedArm::Part dist_ep_part(const Point& point, double real_s) {
    const Group group{point.new_gpus.gpus, point.old_gpus.gpus};
    const PointTimes attention = times_of(point, point.sequences() / group.attention),
                     expert = times_of(point, point.sequences() / group.expert);
    // A rank's experts are asked for by rows of an attention GPU, of which M / N come.
    GpuSeconds of_old = expert.of_old;
    of_old.expert *= double(group.expert) / group.attention;
    const double exchange_s = std::max(attention.exchange_s, expert.exchange_s);
    const double exposed =
        dist_ep_exposed_share(point.calibration)
            .value_or(exposed_share(exchange_s, expert.of_old.expert, backward_over_forward,
                                    attention.piece_s, Links::opposite));
    return split_part(split_step(point, layout_of(group, 1, in_every_layer(point, 0)),
                                 attention.of_new, of_old, exchange_s * exposed),
                      point, real_s);
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
    return split_step(point, layout_of(group, planned.micro_batches, planned.offload), times.of_new,
                      times.of_old,
                      times.exchange_s * std::max(1.0, double(group.attention) / group.expert));
}

bool can_be_paced(Arm arm) { return std::find(paced.begin(), paced.end(), arm) != paced.end(); }

PacedArm paced_arm(const Point& point, Arm arm, const ArmResult& simulated, double real_s) {
    const int m = point.new_gpus.gpus, n = point.old_gpus.gpus;
    if (arm == Arm::ep) return {.parts = {ep_part(point, m, n, real_s)}};
    if (arm == Arm::ep_ideal)
        return {.parts = {ep_part(point, m, 0, real_s), ep_part(point, 0, n, real_s)}};
    if (arm == Arm::dist_ep) return {.parts = {dist_ep_part(point, real_s)}};
    return {.parts = {split_part(group_step(point, simulated), point, real_s)},
            .efficiency = efficiency_of(point.calibration)};
}

}  // namespace assay::hetermoe
