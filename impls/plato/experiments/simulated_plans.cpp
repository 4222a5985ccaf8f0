#include "impls/plato/experiments/simulated_plans.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "impls/model/named_models.hpp"
#include "impls/plato/plans/plan_sets.hpp"
#include "impls/plato/simulated/device_times.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::plato {
namespace {

constexpr int plans_of_a_sample = 200;

std::string word(const SampleSpec& spec, const char* axis) {
    return assay::to_string(spec.axes.at(axis));
}

std::vector<PlanRecord> plans_of(const SampleSpec& spec) {
    const auto shape = spec.axes.contains("density")
                           ? plan_shape("density:" + word(spec, "density"))
                           : plan_shape(word(spec, "plans"));
    return draw_plans(shape, plans_of_a_sample, spec.seed);
}

// Tokens of a prompt, half an answer in the middle of all.
int mean_context(const std::vector<PlanRecord>& plans) {
    std::int64_t tokens = 0;
    for (const PlanRecord& plan : plans)
        tokens += plan.static_node_tokens + plan.question_tokens + plan.ar_tokens / 2;
    return static_cast<int>(tokens / static_cast<std::int64_t>(plans.size()));
}

ScheduleSettings settings_of(const SampleSpec& spec) {
    ScheduleSettings settings;
    settings.mode = parse_mode(spec.variant).value();
    if (spec.axes.contains("kv")) settings.reuse = parse_kv_reuse(word(spec, "kv")).value();
    return settings;
}

// Sums over plans that are answered one after the other.
struct Totals {
    double ar_ms = 0, makespan_ms = 0;
    std::int64_t answer = 0, plan = 0, prompt = 0, recomputed = 0;
    std::vector<double> latencies_s;

    void add(const Schedule& schedule) {
        ar_ms += schedule.ar_ms;
        makespan_ms += schedule.makespan_ms;
        answer += schedule.answer_tokens;
        plan += schedule.plan_tokens;
        prompt += schedule.prompt_tokens;
        recomputed += schedule.recomputed_tokens;
        latencies_s.push_back(schedule.makespan_ms / 1e3);
    }
};

Totals totals(const std::vector<PlanRecord>& plans, const StepCosts& costs,
              const ScheduleSettings& settings) {
    Totals totals;
    for (const PlanRecord& plan : plans) totals.add(schedule(plan, costs, settings));
    return totals;
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const auto plans = plans_of(spec);
    const StepCosts costs = step_costs(model::named_shape(word(spec, "model")),
                                       device_profile(word(spec, "device")), mean_context(plans));
    const ScheduleSettings settings = settings_of(spec);
    const Totals of_mode = totals(plans, costs, settings);
    const double seconds = of_mode.makespan_ms / 1e3;
    recorder.metric("speedup", of_mode.ar_ms / of_mode.makespan_ms);
    recorder.metric("answer_tokens_per_s", static_cast<double>(of_mode.answer) / seconds);
    recorder.metric("tokens_per_s", static_cast<double>(of_mode.answer + of_mode.plan) / seconds);
    recorder.metric("latency_p50_s", statistics::quantile(of_mode.latencies_s, 0.5));
    recorder.metric("latency_p95_s", statistics::quantile(of_mode.latencies_s, 0.95));
    recorder.metric("prompt_tokens", static_cast<double>(of_mode.prompt));
    recorder.metric("recomputed_tokens", static_cast<double>(of_mode.recomputed));
    recorder.metric("recomputed_fraction",
                    static_cast<double>(of_mode.recomputed) / static_cast<double>(of_mode.prompt));
    recorder.metric("plan_tokens", static_cast<double>(of_mode.plan));
    recorder.metric("answer_tokens", static_cast<double>(of_mode.answer));
    if (settings.mode != Mode::plato) return;
    ScheduleSettings waiting = settings;
    waiting.mode = Mode::plato_nopipe;
    recorder.metric("pipeline_gain",
                    totals(plans, costs, waiting).makespan_ms / of_mode.makespan_ms - 1);
}

std::vector<MetricSpec> metrics() {
    using enum Direction;
    return {
        {"speedup", "ratio", "time without plans over time with them, both of all plans", higher,
         true},
        {"answer_tokens_per_s", "1/s", "tokens of answers, without those of plans", higher, true},
        {"tokens_per_s", "1/s", "tokens of answers and plans", higher, true},
        {"latency_p50_s", "s", "from the question to the whole answer: median over plans", lower,
         true},
        {"latency_p95_s", "s", "… 95 % are faster", lower, true},
        {"prompt_tokens", "count", "of all nodes' prompts", none, true},
        {"recomputed_tokens", "count", "of them, those not found in the cache", lower, true},
        {"recomputed_fraction", "share", "of them, those not found in the cache", lower, true},
        {"plan_tokens", "count", "that planners write", none, true},
        {"answer_tokens", "count", "that answers have", none, true},
        {"pipeline_gain", "share", "waiting for the whole plan takes so much longer (plato alone)",
         higher, true}};
}

void validate(const SampleSpec& spec) {
    static_cast<void>(plans_of(spec));
    static_cast<void>(model::named_shape(word(spec, "model")));
    static_cast<void>(device_profile(word(spec, "device")));
    if (spec.axes.contains("kv") && !parse_kv_reuse(word(spec, "kv")))
        throw UserError(fmt::format("kv {}: give L0, L1, L2 or L3", word(spec, "kv")));
}

}  // namespace

Experiment plans_experiment(PlansExperiment declared) {
    Experiment experiment;
    experiment.id = std::move(declared.id);
    experiment.title = std::move(declared.title);
    experiment.source = std::move(declared.source);
    experiment.says =
        std::move(declared.says) +
        fmt::format(
            " {} plans are drawn at random (the paper's are not published) and answered "
            "one after the other, in virtual time, by the policy's controller. A step's "
            "time is that of the model's shape on the device, 16-bit weights, by its "
            "profile: a constant and a part for each sequence.",
            plans_of_a_sample);
    experiment.axes = std::move(declared.axes);
    experiment.axes.push_back(
        {"model", "shape, 16-bit weights", {"llama2-7b", "llama2-13b"}, true});
    experiment.axes.push_back({"device", "its profile", {"h200"}, true});
    experiment.variants = std::move(declared.variants);
    experiment.metrics = metrics();
    for (const Profile profile : {Profile::toy, Profile::paper})
        experiment.profiles.push_back({.profile = profile,
                                       .provenances = {Provenance::simulated},
                                       .axes = {},
                                       .axes_of = {},
                                       .variants = {},
                                       .rounds = 3,
                                       .seconds_per_sample = 0.1,
                                       .seconds_of = {}});
    experiment.figure = std::move(declared.figure);
    experiment.validate = validate;
    experiment.calibration = [](const SampleSpec& spec) {
        return nlohmann::json{{"device", to_json(device_profile(word(spec, "device")))}};
    };
    experiment.run = run;
    return experiment;
}

}  // namespace assay::plato
