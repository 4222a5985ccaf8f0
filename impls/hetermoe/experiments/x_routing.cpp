// Experts are not wanted equally: which of them should move to attention GPUs?
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "impls/hetermoe/emulated/expert_loads.hpp"
#include "impls/hetermoe/emulated/paced_arm.hpp"
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"
#include "impls/tensors/needs.hpp"

namespace assay::hetermoe {
namespace {

constexpr double step_s = 2.5;        // real, with equal loads
constexpr std::int64_t context = 64;  // rows enough for every expert to get about its share

Point point_of(const SampleSpec& spec) {
    const double k = number_axis(spec, "sequence"), skew = number_axis(spec, "skew");
    if (!(k >= 0.125 && k <= 4096)) throw UserError("sequence: give a number from 0.125 to 4096");
    if (!(skew >= 0 && skew <= 10)) throw UserError("skew: give a number from 0 to 10");
    ModelShape model = model_shape("d1");
    model.experts = 16;
    Point point = point_on(model, "hetermoe-on-premise", "a40", 2, "v100", 2);
    point.batch = 4;
    point.tokens = 1024 * k;
    return point;
}

PacedPlan plan_of(const SampleSpec& spec) {
    const Point point = point_of(spec);
    const auto planned = run_arm(point, spec.variant == "none" ? "zebra" : "hetermoe");
    if (!planned) throw SampleError(SampleStatus::unsupported, "it does not fit into memory");
    PacedStep step = group_step(point, *planned);
    PacedPlan plan;
    plan.scale = scale_for(step, step_s);
    step.loads = zipf_loads(point.model.layers, point.model.experts, number_axis(spec, "skew"),
                            point.model.top_k, spec.seed);
    choose_moved(step, of_word<MovedExperts>(spec.variant).value_or(MovedExperts::last));
    plan.steps = {std::move(step)};
    plan.sequences = static_cast<std::int64_t>(point.sequences());
    plan.context = context;
    plan.seed = spec.seed;
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

void run(const SampleSpec& spec, Recorder& recorder) {
    const PacedPlan plan = plan_of(spec);
    const PacedRun run = run_paced({&plan, 1}).front();
    const PacedStepRun& step = run.steps.front();
    recorder.metric("makespan", step.length_s);
    recorder.metric("imbalance", imbalance(step, [](const TaskRun& run) {
                        return queue_of(run.task.kind) == Queue::expert;
                    }));
    recorder.metric("timeline_error",
                    step.length_s / makespan_s(planned_runs(plan.steps.front())) - 1);
    record_lateness(run, recorder);
    record_tasks(step, recorder);
    require_punctual(plan, run);
}

}  // namespace

Experiment x_routing() {
    Experiment e;
    e.id = "hetermoe/x_routing";
    e.title = "Which experts to move where loads are skewed";
    e.source = "our own; the paper's experts get equally many tokens";
    e.says =
        "D1 with sixteen experts on two A40 and two V100; the i-th most wanted expert of a layer "
        "gets a share of rows that goes with i^-skew, half of a layer's tokens at most, and which "
        "one that is is drawn for every layer. Algorithm 1 says how many experts move, for equal "
        "loads; which ones: the last of every old GPU (last, the policy's), those with the most "
        "rows (hottest), with the fewest (coldest), or with any expert anywhere, heaviest first, "
        "each to the GPU that is then done first (balanced); none moves nothing. Emulated: a "
        "process for each GPU; the rows that really come to its experts, and that it sends or "
        "receives, decide how long its tasks are.";
    e.axes = {{"skew", "Zipf's exponent; 0: equal loads", {0.0, 0.5, 1.0, 1.5}, true},
              {"sequence", "thousands of tokens", {std::int64_t{8}}, true}};
    e.variants = {"last", "hottest", "coldest", "balanced", "none"};
    e.metrics = {
        {"makespan", "s", "of a step, on the modelled GPUs", Direction::lower},
        {"imbalance", "ratio", "busiest old GPU over their mean", Direction::lower},
        {"timeline_error", "share",
         "of the makespan that the shares foretell, by which it is longer: rows are whole, too"}};
    const std::vector<MetricSpec> lateness = lateness_metrics();
    e.metrics.insert(e.metrics.end(), lateness.begin(), lateness.end());
    ProfilePlan toy;
    toy.provenances = {Provenance::emulated};
    toy.rounds = 3;
    toy.seconds_per_sample = 9;
    toy.timeout_s = 300;
    e.profiles = {toy};
    e.figure = {.kind = Figure::Kind::lines,
                .metric = "makespan",
                .x = "skew",
                .panels = {},
                .x_title = "Zipf's exponent",
                .y_title = "seconds of a step"};
    e.validate = [](const SampleSpec& spec) { point_of(spec); };
    e.unsupported = [](const SampleSpec&) { return tensors::lacks(tensors::Needs::processes); };
    e.calibration = [](const SampleSpec& spec) { return calibration_json(point_of(spec)); };
    e.run = run;
    return e;
}

}  // namespace assay::hetermoe
