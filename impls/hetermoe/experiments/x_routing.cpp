// Experts are not wanted equally: which of them should move to attention GPUs?
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "impls/hetermoe/emulated/expert_loads.hpp"
#include "impls/hetermoe/emulated/paced_arm.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {
namespace {

constexpr double step_s = 2.5;        // real, with equal loads
constexpr std::int64_t context = 64;  // rows enough for every expert to get about its share

struct XRouting {
    double skew = 0, sequence = 0;  ///< thousands of tokens
    std::optional<MovedExperts> moved;
    std::uint64_t seed = 1;
};

Point point_of(const XRouting& routing) {
    ModelShape model = model_shape("d1");
    model.experts = 16;
    Point point = point_on(model, "hetermoe-on-premise", "a40", 2, "v100", 2);
    point.batch = 4;
    point.tokens = 1024 * routing.sequence;
    return point;
}

PacedPlan plan_of(const XRouting& routing) {
    const Point point = point_of(routing);
    const auto planned = run_arm(point, routing.moved ? Arm::hetermoe : Arm::zebra);
    if (!planned) throw SampleError(SampleStatus::unsupported, "it does not fit into memory");
    PacedStep step = group_step(point, *planned);
    PacedPlan plan;
    plan.scale = scale_for(step, step_s);
    step.loads = zipf_loads(point.model.layers, point.model.experts, routing.skew,
                            point.model.top_k, routing.seed);
    choose_moved(step, routing.moved.value_or(MovedExperts::last));
    plan.steps = {std::move(step)};
    plan.sequences = static_cast<std::int64_t>(point.sequences());
    plan.context = context;
    plan.seed = routing.seed;
    return plan;
}

// Of the GPUs of one kind: the busiest over their mean, of what `counts` says.
template <class Counts>
double imbalance(const PacedStepRun& step, const Counts& counts) {
    std::map<int, double> held;
    for (const TaskRun& run : step.runs)
        if (counts(run)) held[run.rank] += run.held_s;
    double most = 0, sum = 0;
    for (const auto& [rank, seconds] : held) {
        most = std::max(most, seconds);
        sum += seconds;
    }
    return most * static_cast<double>(held.size()) / sum;
}

struct Measured : Metrics {
    using Metrics::Metrics;
    Metric makespan = varying("makespan", "s", "of a step, on the modelled GPUs", lower);
    Metric imbalance = varying("imbalance", "ratio", "busiest old GPU over their mean", lower);
    Metric timeline_error = varying(
        "timeline_error", "share",
        "of the makespan that the shares foretell, by which it is longer: rows are whole, too");
};
using XRoutingFound = WithLateness<Measured>;

void run(const XRouting& routing, Recorder& recorder) {
    const PacedPlan plan = plan_of(routing);
    const PacedRun run = run_paced({&plan, 1}).front();
    const PacedStepRun& step = run.steps.front();
    const XRoutingFound found(recorder);
    found.makespan(step.length_s);
    found.imbalance(imbalance(
        step, [](const TaskRun& run) { return queue_of(run.task.kind) == Queue::expert; }));
    found.timeline_error(step.length_s / makespan_s(planned_runs(plan.steps.front())) - 1);
    record_lateness(run, found);
    record_tasks(step, recorder);
    require_punctual(plan, run);
}

ProfilePlan toy() {
    ProfilePlan toy;
    toy.provenances = {Provenance::emulated};
    toy.rounds = 3;
    toy.seconds_per_sample = 9;
    toy.timeout_s = 300;
    return toy;
}

}  // namespace

Experiment x_routing() {
    Declaration<XRouting> x_routing(
        {.id = "hetermoe/x_routing",
         .title = "Which experts to move where loads are skewed",
         .source = "our own; the paper's experts get equally many tokens",
         .says =
             "D1 with sixteen experts on two A40 and two V100; the i-th most wanted expert of a "
             "layer gets a share of rows that goes with i^-skew, half of a layer's tokens at most, "
             "and which one that is is drawn for every layer. Algorithm 1 says how many experts "
             "move, for equal loads; which ones: the last of every old GPU (last, the policy's), "
             "those with the most rows (hottest), with the fewest (coldest), or with any expert "
             "anywhere, heaviest first, each to the GPU that is then done first (balanced); none "
             "moves nothing. Emulated: a process for each GPU; the rows that really come to its "
             "experts, and that it sends or receives, decide how long its tasks are.",
         .variants = {"last", "hottest", "coldest", "balanced", "none"},
         .metrics = declared<XRoutingFound>(),
         .profiles = {toy()},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "makespan",
                    .x = "skew",
                    .panels = {},
                    .x_title = "Zipf's exponent",
                    .y_title = "seconds of a step"}});
    x_routing.axis("skew", &XRouting::skew, "Zipf's exponent; 0: equal loads", {0.0, 0.5, 1.0, 1.5},
                   between(0, 10));
    x_routing.axis("sequence", &XRouting::sequence, "thousands of tokens", whole({8}),
                   between(0.125, 4096));
    x_routing.given(&XRouting::moved,
                    [](const SampleSpec& spec) { return of_word<MovedExperts>(spec.variant); });
    x_routing.given(&XRouting::seed, &SampleSpec::seed);
    x_routing.needs(run_paced);
    x_routing.calibration(
        [](const XRouting& routing) { return calibration_json(point_of(routing)); });
    return x_routing.runs(run);
}

}  // namespace assay::hetermoe
