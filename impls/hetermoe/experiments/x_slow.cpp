// A GPU slows in the middle of a training: what planning anew gains, and costs.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "impls/hetermoe/emulated/controlled_steps.hpp"
#include "impls/hetermoe/emulated/paced_arm.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {
namespace {

// Two steps as planned; one in which the GPU is slow and nobody knows; two when it is known.
constexpr std::size_t slow_from = 2, known_from = 3, steps = 5;
constexpr double step_s = 1.5;  // real, of the first ones

enum class Kind { old_gpus, new_gpus };
ASSAY_NAMES(Kind, (old_gpus, "old"), (new_gpus, "new"))

enum class Response { keep, replan, search, controlled };
ASSAY_NAMES(Response, keep, replan, search, controlled)

struct XSlow {
    Kind slow{};
    double factor = 1, sequence = 0;  ///< thousands of tokens
    double regroup_s = 0;             ///< to put another plan into force, beside moving experts
    Response response{};
    std::uint64_t seed = 1;
};

void slow_down(ModelledGpus& gpus, double factor) {
    gpus.device.matmul_flops.value /= factor;
    gpus.device.memory_bandwidth.value /= factor;
    gpus.device.launch_s.value *= factor;
}

struct Slowing {
    Point before, after;  ///< after: all GPUs of the kind as slow as that one
    bool new_kind = false;
};

Slowing slowing_of(const XSlow& slow) {
    ModelShape model = model_shape("d1");
    model.experts = 8;
    Slowing slowing{.before = point_on(model, "hetermoe-on-premise", "a40", 2, "v100", 2)};
    slowing.before.batch = 4;
    slowing.before.tokens = 1024 * slow.sequence;
    slowing.new_kind = slow.slow == Kind::new_gpus;
    slowing.after = slowing.before;
    slow_down(slowing.new_kind ? slowing.after.new_gpus : slowing.after.old_gpus, slow.factor);
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

// The step of that number, as `planned`.
PacedStep step_of(const Slowing& slowing, const ArmResult& planned, std::size_t number) {
    const PacedStep step = group_step(slowing.before, planned);
    return number < slow_from ? step : with_slow_gpu(step, slowing, planned);
}

ControllerSettings controller_of(const Point& point, const ArmResult& planned) {
    const PointTimes times = times_of(point, double(point.batch) / planned.micro_batches);
    const auto nanoseconds = [](double seconds) { return std::llround(seconds * 1e9); };
    return {.layers = point.model.layers,
            .experts = point.model.experts,
            .group = {point.new_gpus.gpus, point.old_gpus.gpus},
            .micro_batches = planned.micro_batches,
            .squeeze = true,
            .times = {.attention = nanoseconds(times.of_new.attention),
                      .old_expert = nanoseconds(times.of_old.expert),
                      .new_expert = nanoseconds(times.of_new.expert),
                      .exchange = nanoseconds(times.exchange_s)},
            .steps = steps};
}

PacedPlan plan_of(const XSlow& slow) {
    const Slowing slowing = slowing_of(slow);
    const auto planned = [&](const Point& point, Arm arm) {
        if (const auto result = run_arm(point, arm)) return *result;
        throw SampleError(SampleStatus::unsupported, "it does not fit into memory");
    };
    const ArmResult before = planned(slowing.before, Arm::hetermoe);
    PacedPlan plan;
    if (slow.response == Response::controlled) {
        const auto step_in = [&](const Layout& layout, std::size_t number) {
            const ArmResult now{.micro_batches = layout.micro_batches, .offload = layout.offload};
            return step_of(slowing, now, number);
        };
        plan.steps = controlled_steps(controller_of(slowing.before, before), step_in);
    } else {
        const ArmResult after = slow.response == Response::keep ? before
                                : slow.response == Response::search
                                    ? planned(slowing.after, Arm::search)
                                    : planned(slowing.after, Arm::hetermoe);
        for (std::size_t i = 0; i < steps; ++i)
            plan.steps.push_back(step_of(slowing, i < known_from ? before : after, i));
    }
    for (std::size_t i = 1; i < steps; ++i) {
        const Layout &from = plan.steps[i - 1].layout, &to = plan.steps[i].layout;
        if (from != to) plan.steps[i].move_s = move_s(slowing.before, from, to) + slow.regroup_s;
    }
    plan.scale = scale_for(plan.steps.front(), step_s);
    plan.sequences = static_cast<std::int64_t>(slowing.before.sequences());
    plan.seed = slow.seed;
    return plan;
}

struct Measured : Metrics {
    using Metrics::Metrics;
    Metric step_s = varying("step_s", "s", "of a step, on the modelled GPUs", lower, {"step"});
    Metric total_s = varying("total_s", "s", "of the five steps and of moving", lower);
    Metric move_s = varying("move_s", "s", "putting another plan into force", lower);
    Metric slowdown =
        varying("slowdown", "ratio",
                "of the step in which the GPU is slow and nobody knows, to the first", lower);
    Metric gain = varying("gain", "ratio", "of that step to the last one", higher);
    Metric offload =
        exact("offload", "count", "experts that each old GPU has given up at the end, all layers");
    Metric micro_batches = exact("micro_batches", "count", "of a step and new GPU at the end");
    Metric timeline_error =
        varying("timeline_error", "share", "of the planned steps, by which they are longer");
};
using XSlowFound = WithLateness<Measured>;

void run(const XSlow& settings, Recorder& recorder) {
    const PacedPlan plan = plan_of(settings);
    const PacedRun run = run_paced({&plan, 1}).front();
    const XSlowFound found(recorder);
    double total = 0, planned = 0, move = 0;
    for (std::size_t i = 0; i < steps; ++i) {
        const PacedStepRun& step = run.steps[i];
        found.step_s(step.length_s, {{"step", static_cast<std::int64_t>(i)}});
        total += step.length_s;
        planned += makespan_s(planned_runs(plan.steps[i]));
        move += step.move_s;
    }
    const double slow = run.steps[slow_from].length_s, settled = run.steps.back().length_s;
    const std::vector<int>& offload = plan.steps.back().layout.offload;
    found.total_s(total + move);
    found.move_s(move);
    found.slowdown(slow / run.steps.front().length_s);
    found.gain(slow / settled);
    found.offload(std::accumulate(offload.begin(), offload.end(), 0.0));
    found.micro_batches(plan.steps.back().layout.micro_batches);
    found.timeline_error(total / planned - 1);
    record_lateness(run, found);
    require_punctual(plan, run);
}

ProfilePlan toy() {
    ProfilePlan toy;
    toy.provenances = {Provenance::emulated};
    toy.seconds_per_sample = 18;
    toy.timeout_s = 600;
    toy.axes["regroup_s"] = {};  // unnamed: 0
    toy.variants = {"keep", "replan", "search"};
    return toy;
}

}  // namespace

Experiment x_slow() {
    Declaration<XSlow> x_slow(
        {.id = "hetermoe/x_slow",
         .title = "A GPU slows in the middle of a training",
         .source = "our own; the paper plans once",
         .says =
             "D1 with eight experts on two A40 and two V100, one of which computes `factor` times "
             "as slowly from the third of five steps on. keep goes on as planned; replan runs "
             "Algorithm 1 with the times of the slow GPU for its whole kind, which waits for it at "
             "every exchange, from the fourth step on, after the experts have moved; search finds "
             "the best offload in its place; controlled is as the controller of a live training "
             "decides: it keeps the number of micro-batches, knows no limits of memory, and hears "
             "of the slow step when the next is on its way, so only the last follows its new plan. "
             "Emulated: a process for each GPU, task times by data sheets; experts' states really "
             "move, for as long as a link of the cluster takes.",
         .metrics = declared<XSlowFound>(),
         .profiles = {toy()},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "step_s",
                    .x = "step",
                    .panels = {"slow", "factor"},
                    .x_title = "step",
                    .y_title = "seconds of a step"}});
    x_slow.axis("slow", &XSlow::slow, "the kind of the GPU that slows");
    x_slow.axis("factor", &XSlow::factor, "so many times as slow", {1.5, 2.0, 4.0},
                between(1, 100));
    x_slow.axis("sequence", &XSlow::sequence, "thousands of tokens", whole({8}),
                between(0.125, 4096));
    x_slow.axis("regroup_s", &XSlow::regroup_s,
                "modelled seconds that another plan takes beside moving experts; without -a: 0",
                whole({0}), between(0, 1e4));
    x_slow.variants(&XSlow::response);
    x_slow.given(&XSlow::seed, &SampleSpec::seed);
    x_slow.needs(run_paced);
    x_slow.calibration([](const XSlow& slow) { return calibration_json(slowing_of(slow).before); });
    return x_slow.runs(run);
}

}  // namespace assay::hetermoe
