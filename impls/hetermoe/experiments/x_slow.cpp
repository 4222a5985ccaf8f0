// A GPU slows in the middle of a training: what planning anew gains, and costs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "impls/hetermoe/emulated/paced_arm.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"
#include "impls/tensors/needs.hpp"

namespace assay::hetermoe {
namespace {

// Two steps as planned; one in which the GPU is slow and nobody knows; two when it is known.
constexpr std::size_t slow_from = 2, known_from = 3, steps = 5;
constexpr double step_s = 1.5;  // real, of the first ones

void slow_down(ModelledGpus& gpus, double factor) {
    gpus.device.matmul_flops.value /= factor;
    gpus.device.memory_bandwidth.value /= factor;
    gpus.device.launch_s.value *= factor;
}

struct Slowing {
    Point before, after;  ///< after: all GPUs of the kind as slow as that one
    bool new_kind = false;
};

Slowing slowing_of(const SampleSpec& spec) {
    const std::string kind = assay::to_string(spec.axes.at("slow"));
    if (kind != "new" && kind != "old") throw UserError("slow: give new or old");
    const double factor = number_axis(spec, "factor"), k = number_axis(spec, "sequence");
    if (!(factor >= 1 && factor <= 100)) throw UserError("factor: give a number from 1 to 100");
    if (!(k >= 0.125 && k <= 4096)) throw UserError("sequence: give a number from 0.125 to 4096");
    ModelShape model = model_shape("d1");
    model.experts = 8;
    Slowing slowing{.before = point_on(model, "hetermoe-on-premise", "a40", 2, "v100", 2)};
    slowing.before.batch = 4;
    slowing.before.tokens = 1024 * k;
    slowing.new_kind = kind == "new";
    slowing.after = slowing.before;
    slow_down(slowing.new_kind ? slowing.after.new_gpus : slowing.after.old_gpus, factor);
    return slowing;
}

// Only one GPU of the kind is slow.
PacedStep with_slow_gpu(PacedStep step, const Slowing& slowing, const ArmResult& planned) {
    const auto [m, n] = step.layout.group;
    const auto slow = static_cast<std::size_t>(slowing.new_kind ? m - 1 : m + n - 1);
    step.ranks[slow] = group_step(slowing.after, planned).ranks[slow];
    return step;
}

// All states of the experts that move, each GPU's over its own link, both ways at once.
double move_s(const Point& point, const Layout& from, const Layout& to) {
    std::map<int, double> in, out;  // bytes, by rank
    const double bytes = state_bytes * point.model.expert_parameters();
    for (const BlockKey& key : nn::all_blocks(point.model.layers, point.model.experts)) {
        if (key == nn::dense_key) continue;
        const int source = holders_of(from, point.model.experts, key).front(),
                  target = holders_of(to, point.model.experts, key).front();
        if (source == target) continue;
        out[source] += bytes;
        in[target] += bytes;
    }
    double most = 0;
    for (const auto* way : {&in, &out})
        for (const auto& [rank, count] : *way) most = std::max(most, count);
    return most / reached(point.network.link_bandwidth, point.network.link_efficiency);
}

PacedPlan plan_of(const SampleSpec& spec) {
    const Slowing slowing = slowing_of(spec);
    const auto planned = [&](const Point& point, std::string_view arm) {
        if (const auto result = run_arm(point, arm)) return *result;
        throw SampleError(SampleStatus::unsupported, "it does not fit into memory");
    };
    const ArmResult before = planned(slowing.before, "hetermoe"),
                    after = spec.variant == "keep"     ? before
                            : spec.variant == "search" ? planned(slowing.after, "search")
                                                       : planned(slowing.after, "hetermoe");
    PacedPlan plan;
    for (std::size_t i = 0; i < steps; ++i) {
        const ArmResult& current = i < known_from ? before : after;
        PacedStep step = group_step(slowing.before, current);
        plan.steps.push_back(i < slow_from ? step : with_slow_gpu(step, slowing, current));
    }
    PacedStep& first = plan.steps[known_from];
    first.move_s = move_s(slowing.before, plan.steps.front().layout, first.layout);
    plan.scale = scale_for(plan.steps.front(), step_s);
    plan.sequences = static_cast<std::int64_t>(slowing.before.sequences());
    plan.seed = spec.seed;
    return plan;
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const PacedPlan plan = plan_of(spec);
    const PacedRun run = run_paced({&plan, 1}).front();
    double total = 0, planned = 0, move = 0;
    for (std::size_t i = 0; i < steps; ++i) {
        const PacedStepRun& step = run.steps[i];
        recorder.metric("step_s", step.length_s, {{"step", static_cast<std::int64_t>(i)}});
        total += step.length_s;
        planned += makespan_s(planned_runs(plan.steps[i]));
        move += step.move_s;
    }
    const double slow = run.steps[slow_from].length_s, settled = run.steps.back().length_s;
    const std::vector<int>& offload = plan.steps.back().layout.offload;
    recorder.metric("total_s", total + move);
    recorder.metric("move_s", move);
    recorder.metric("slowdown", slow / run.steps.front().length_s);
    recorder.metric("gain", slow / settled);
    recorder.metric("offload", std::accumulate(offload.begin(), offload.end(), 0.0));
    recorder.metric("micro_batches", plan.steps.back().layout.micro_batches);
    recorder.metric("timeline_error", total / planned - 1);
    record_lateness(run, recorder);
    require_punctual(plan, run);
}

}  // namespace

Experiment x_slow() {
    Experiment e;
    e.id = "hetermoe/x_slow";
    e.title = "A GPU slows in the middle of a training";
    e.source = "our own; the paper plans once";
    e.says =
        "D1 with eight experts on two A40 and two V100, one of which computes `factor` times as "
        "slowly from the third of five steps on. keep goes on as planned; replan runs Algorithm 1 "
        "with the times of the slow GPU for its whole kind, which waits for it at every exchange, "
        "from the fourth step on, after the experts have moved; search finds the best offload in "
        "its place. Emulated: a process for each GPU, task times by data sheets; experts' states "
        "really move, for as long as a link of the cluster takes.";
    e.axes = {{"slow", "the kind of the GPU that slows", {"old", "new"}, false},
              {"factor", "so many times as slow", {1.5, 2.0, 4.0}, true},
              {"sequence", "thousands of tokens", {std::int64_t{8}}, true}};
    e.variants = {"keep", "replan", "search"};
    const auto none = Direction::none;
    e.metrics = {
        {"step_s", "s", "of a step, on the modelled GPUs", Direction::lower, false, {"step"}},
        {"total_s", "s", "of the five steps and of moving", Direction::lower},
        {"move_s", "s", "moving experts", Direction::lower},
        {"slowdown", "ratio", "of the step in which the GPU is slow and nobody knows, to the first",
         Direction::lower},
        {"gain", "ratio", "of that step to the last one", Direction::higher},
        {"offload", "count", "experts that each old GPU has given up at the end, all layers", none,
         true},
        {"micro_batches", "count", "of a step and new GPU at the end", none, true},
        {"timeline_error", "share", "of the planned steps, by which they are longer", none}};
    const std::vector<MetricSpec> lateness = lateness_metrics();
    e.metrics.insert(e.metrics.end(), lateness.begin(), lateness.end());
    ProfilePlan toy;
    toy.provenances = {Provenance::emulated};
    toy.seconds_per_sample = 18;
    toy.timeout_s = 600;
    e.profiles = {toy};
    e.figure = {.kind = Figure::Kind::lines,
                .metric = "step_s",
                .x = "step",
                .panels = {"slow", "factor"},
                .x_title = "step",
                .y_title = "seconds of a step"};
    e.validate = [](const SampleSpec& spec) { slowing_of(spec); };
    e.unsupported = [](const SampleSpec&) { return tensors::lacks(tensors::Needs::processes); };
    e.calibration = [](const SampleSpec& spec) {
        return calibration_json(slowing_of(spec).before);
    };
    e.run = run;
    return e;
}

}  // namespace assay::hetermoe
