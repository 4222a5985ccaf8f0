#include "impls/plato/experiments/plans_experiment.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "impls/model/named_models.hpp"
#include "impls/plato/experiments/measured_plans.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "impls/plato/simulated/device_times.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::plato {
namespace {

constexpr int plans_of_a_sample = 200, measured_plans = 2;

// Tokens of a prompt, half an answer in the middle of all.
int mean_context(const std::vector<PlanRecord>& plans) {
    std::int64_t tokens = 0;
    for (const PlanRecord& plan : plans)
        tokens += plan.static_node_tokens + plan.question_tokens + plan.ar_tokens / 2;
    return static_cast<int>(tokens / static_cast<std::int64_t>(plans.size()));
}

// Sums over plans that are answered one after the other.
struct Totals {
    std::int64_t answer = 0, plan = 0, prompt = 0, recomputed = 0;
    std::vector<double> latencies_s;
    double seconds = 0;

    void add(const Schedule& schedule) { add(schedule, schedule.makespan_ms / 1e3); }
    void add(const LiveAnswer& answer) { add(answer, answer.seconds); }
    template <class Each>
    void add(const Each& each, double latency_s) {
        answer += each.answer_tokens;
        plan += each.plan_tokens;
        prompt += each.prompt_tokens;
        recomputed += each.recomputed_tokens;
        latencies_s.push_back(latency_s);
        seconds += latency_s;
    }

    void record(Recorder& recorder) const {
        recorder.metric("answer_tokens_per_s", static_cast<double>(answer) / seconds);
        recorder.metric("tokens_per_s", static_cast<double>(answer + plan) / seconds);
        recorder.metric("latency_p50_s", statistics::quantile(latencies_s, 0.5));
        recorder.metric("latency_p95_s", statistics::quantile(latencies_s, 0.95));
        recorder.metric("prompt_tokens", static_cast<double>(prompt));
        recorder.metric("recomputed_tokens", static_cast<double>(recomputed));
        // An empty prompt cannot be decoded from, but planned with.
        recorder.metric(
            "recomputed_fraction",
            prompt > 0 ? static_cast<double>(recomputed) / static_cast<double>(prompt) : 1);
        recorder.metric("plan_tokens", static_cast<double>(plan));
        recorder.metric("answer_tokens", static_cast<double>(answer));
    }
};

KvReuse reuse_of(const SampleSpec& spec) {
    return spec.axes.contains("kv") ? of_word<KvReuse>(word_axis(spec, "kv")).value()
                                    : KvReuse::prefix;
}

/// Whether static parts are cached before a question comes.
bool starts_warm(const SampleSpec& spec) {
    return !spec.axes.contains("start") || word_axis(spec, "start") == "warm";
}

// ---- in virtual time

void run_simulated(const SampleSpec& spec, Recorder& recorder) {
    const auto plans = plans_of(spec, plans_of_a_sample);
    const StepCosts costs =
        step_costs(model::named_shape(word_axis(spec, "model")),
                   device_profile(word_axis(spec, "device")), mean_context(plans));
    const bool warm = starts_warm(spec);
    double ar_ms = 0;
    const auto totals = [&](Mode mode) {
        Totals totals;
        ar_ms = 0;
        for (const PlanRecord& plan : plans) {
            const Schedule each =
                schedule(plan, costs, {.mode = mode, .reuse = reuse_of(spec), .warm = warm});
            totals.add(each);
            ar_ms += each.ar_ms;
        }
        return totals;
    };
    const Mode mode = of_word<Mode>(spec.variant).value();
    const Totals of_mode = totals(mode);
    of_mode.record(recorder);
    recorder.metric("speedup", ar_ms / 1e3 / of_mode.seconds);
    if (mode == Mode::plato)
        recorder.metric("pipeline_gain", totals(Mode::plato_nopipe).seconds / of_mode.seconds - 1);
}

// ---- on the engine

void run_measured(const SampleSpec& spec, Recorder& recorder, bool with_ar, bool with_waiting) {
    const LiveModel model(spec);
    const auto questions =
        drawn_tokens(plans_of(spec, measured_plans), model.tokenizer(), spec.seed);
    LiveSettings settings;
    settings.answer.reuse = reuse_of(spec);
    settings.answer.mode = of_word<Mode>(spec.variant).value();
    settings.answer.warm = starts_warm(spec);
    const auto answered = [&](Mode mode) {
        LiveSettings other = settings;
        other.answer.mode = mode;
        if (!spec.axes.contains("engines")) return model.run(questions, other);
        return model.run_on_processes(questions, other,
                                      static_cast<int>(integer_axis(spec, "engines")));
    };
    // Neighbours in time, so that what else the machine does weighs on both alike.
    const double ar_s =
        with_ar && settings.answer.mode != Mode::ar ? answered(Mode::ar).seconds : 0;
    const LiveRun run = answered(settings.answer.mode);
    Totals totals;
    for (const LiveAnswer& answer : run.answers) totals.add(answer);
    totals.record(recorder);
    if (with_ar) recorder.metric("speedup", ar_s > 0 ? ar_s / run.seconds : 1);
    if (with_waiting && settings.answer.mode == Mode::plato)
        recorder.metric("pipeline_gain", answered(Mode::plato_nopipe).seconds / run.seconds - 1);
    recorder.metric("held_blocks", run.held_blocks);
    recorder.metric("answers_crc32", run.answers_crc32);
    if (run.steps.empty()) return;  // engines in processes make their steps by themselves
    const StepCosts costs = fitted_costs(run.steps);
    recorder.metric("step_ms", costs.step_ms);
    recorder.metric("sequence_ms", costs.sequence_ms);
    recorder.metric("prefill_ms", costs.prefill_ms);
    recorder.metric("model_error", median_error(questions, run, costs, settings));
    recorder.metric("controller_share", run.controller_s / run.seconds);
}

// ---- what is declared

std::vector<MetricSpec> metrics(bool with_ar, bool with_waiting) {
    using enum Direction;
    const std::vector<Provenance> live{Provenance::measured};
    std::vector<MetricSpec> all{
        {"speedup", "ratio", "time without plans over time with them, both of all plans", higher,
         true},
        {"answer_tokens_per_s", "1/s", "tokens of answers, without those of plans", higher, true},
        {"tokens_per_s", "1/s", "tokens of answers and plans", higher, true},
        {"latency_p50_s", "s", "from the question to the whole answer: median over plans", lower,
         true},
        {"latency_p95_s", "s", "… 95 % are faster", lower, true},
        {"pipeline_gain", "share", "waiting for the whole plan takes so much longer (plato alone)",
         higher, true}};
    for (MetricSpec& metric : all) metric.varies = live;
    // What run_measured() leaves out.
    if (!with_ar) all.front().only = {Provenance::simulated};
    if (!with_waiting) all.back().only = {Provenance::simulated};
    std::vector<MetricSpec> counted{
        {"prompt_tokens", "count", "of all nodes' prompts", none, true},
        {"recomputed_tokens", "count", "of them, those not found in the cache", lower, true},
        {"recomputed_fraction", "share", "of them, those not found in the cache", lower, true},
        {"plan_tokens", "count", "that planners write", none, true},
        {"answer_tokens", "count", "that answers have", none, true}};
    // Which of several engines takes a node is decided by who is ready first.
    for (MetricSpec& metric : counted)
        if (metric.name.starts_with("recomputed")) metric.varies = live;
    all.insert(all.end(), counted.begin(), counted.end());
    std::vector<MetricSpec> of_the_engine{
        {"held_blocks", "count", "of the cache, when all is answered and given up", lower, true},
        {"answers_crc32", "checksum",
         "CRC-32 of all answers' ids (32 bits) and log-probabilities (64 bits)", none, true},
        {"step_ms", "ms", "C0 of this run's steps, by least squares", lower},
        {"sequence_ms", "ms", "C1: of a sequence more", lower},
        {"prefill_ms", "ms", "P: of a prompt token", lower},
        {"model_error", "share",
         "schedules in virtual time at these C0, C1, P miss the measured time by so much of it: "
         "median over plans",
         lower},
        {"controller_share", "share", "of the time, spent on deciding and on prompts", lower}};
    for (MetricSpec& metric : of_the_engine) metric.only = live;
    all.insert(all.end(), of_the_engine.begin(), of_the_engine.end());
    return all;
}

std::vector<ProfilePlan> profiles(const PlansExperiment& declared) {
    auto plans = live_profiles(declared.toy_axes, declared.seconds_per_sample);
    ProfilePlan& toy = plans.front();
    if (declared.simulated_first) std::swap(toy.provenances[0], toy.provenances[1]);
    toy.variants = declared.toy_variants;
    for (ProfilePlan& plan : plans) plan.axes["engines"] = {};  // in cases only where asked for
    return plans;
}

}  // namespace

Experiment plans_experiment(PlansExperiment declared) {
    Experiment experiment;
    experiment.profiles = profiles(declared);
    experiment.id = std::move(declared.id);
    experiment.title = std::move(declared.title);
    experiment.source = std::move(declared.source);
    experiment.says =
        std::move(declared.says) +
        fmt::format(
            " {} plans are drawn at random (the paper's are not published) and answered "
            "one after the other, in virtual time, by the policy's controller. A step's "
            "time is that of the model's shape on the device, 16-bit weights, by its "
            "profile: a constant and a part for each sequence. Measured, at toy: {} plans, the "
            "same "
            "controller, {} on this machine's cores by the engine; prompts and plans are tokens "
            "drawn at random, answers those that the model gives (or a file of plans records); "
            "nothing but static parts is kept between plans. Skeleton-of-Thought's instructions "
            "and lines are its own.",
            plans_of_a_sample, measured_plans, live_model);
    experiment.axes = std::move(declared.axes);
    experiment.axes.push_back(
        {"start",
         "warm: static parts of prompts are cached before the questions come; cold: they are not",
         {std::string("warm")},
         true});
    for (Axis& axis : machine_axes()) experiment.axes.push_back(std::move(axis));
    experiment.axes.push_back({"engines",
                               "measured: so many, in processes of their own that share the cores; "
                               "where it is not given one, in the sample's own",
                               {std::int64_t{1}, std::int64_t{2}},
                               true});
    experiment.variants = std::move(declared.variants);
    experiment.metrics = metrics(declared.with_ar, declared.with_waiting);
    experiment.figure = std::move(declared.figure);
    experiment.validate = validate_axes;
    declare_live(experiment);
    experiment.run = [with_ar = declared.with_ar, with_waiting = declared.with_waiting](
                         const SampleSpec& spec, Recorder& recorder) {
        if (spec.provenance == Provenance::measured)
            run_measured(spec, recorder, with_ar, with_waiting);
        else
            run_simulated(spec, recorder);
    };
    return experiment;
}

}  // namespace assay::plato
