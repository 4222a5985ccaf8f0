#include "impls/plato/experiments/plans_experiment.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "impls/model/named_models.hpp"
#include "impls/plato/experiments/measured_plans.hpp"
#include "impls/plato/simulated/device_times.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/metrics.hpp"
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

struct Found : Metrics {
    explicit Found(const PlansOptions& options) : options(options) {}
    Found(const PlansOptions& options, Recorder& recorder) : Metrics(recorder), options(options) {}

    const PlansOptions options;
    const std::vector<Provenance> live{Provenance::measured};
    Metric speedup = compared(options.with_ar, "speedup", "ratio",
                              "time without plans over time with them, both of all plans");
    Metric answer_tokens_per_s = exact_unless(live, "answer_tokens_per_s", "1/s",
                                              "tokens of answers, without those of plans", higher);
    Metric tokens_per_s =
        exact_unless(live, "tokens_per_s", "1/s", "tokens of answers and plans", higher);
    Metric latency_p50_s =
        exact_unless(live, "latency_p50_s", "s",
                     "from the question to the whole answer: median over plans", lower);
    Metric latency_p95_s = exact_unless(live, "latency_p95_s", "s", "… 95 % are faster", lower);
    Metric pipeline_gain =
        compared(options.with_waiting, "pipeline_gain", "share",
                 "waiting for the whole plan takes so much longer (plato alone)");
    Metric prompt_tokens = exact("prompt_tokens", "count", "of all nodes' prompts");
    // Which of several engines takes a node is decided by who is ready first.
    Metric recomputed_tokens = exact_unless(live, "recomputed_tokens", "count",
                                            "of them, those not found in the cache", lower);
    Metric recomputed_fraction = exact_unless(live, "recomputed_fraction", "share",
                                              "of them, those not found in the cache", lower);
    Metric plan_tokens = exact("plan_tokens", "count", "that planners write");
    Metric answer_tokens = exact("answer_tokens", "count", "that answers have");
    Metric held_blocks = of_the_engine(
        {"held_blocks", "count", "of the cache, when all is answered and given up", lower, true});
    Metric answers_crc32 = of_the_engine(
        {"answers_crc32", "checksum",
         "CRC-32 of all answers' ids (32 bits) and log-probabilities (64 bits)", none, true});
    Metric step_ms =
        of_the_engine({"step_ms", "ms", "C0 of this run's steps, by least squares", lower});
    Metric sequence_ms = of_the_engine({"sequence_ms", "ms", "C1: of a sequence more", lower});
    Metric prefill_ms = of_the_engine({"prefill_ms", "ms", "P: of a prompt token", lower});
    Metric model_error = of_the_engine(
        {"model_error", "share",
         "schedules in virtual time at these C0, C1, P miss the measured time by so much of it: "
         "median over plans",
         lower});
    Metric controller_share = of_the_engine(
        {"controller_share", "share", "of the time, spent on deciding and on prompts", lower});

  private:
    /// Measured: or left out by run_measured().
    Metric compared(bool measured, std::string name, std::string unit, std::string says) {
        MetricSpec spec{std::move(name), std::move(unit), std::move(says), higher, true};
        if (!measured) spec.only = {Provenance::simulated};
        spec.varies = live;
        return metric(std::move(spec));
    }
    Metric of_the_engine(MetricSpec spec) {
        spec.only = live;
        return metric(std::move(spec));
    }
};

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

    void record(const Found& found) const {
        found.answer_tokens_per_s(static_cast<double>(answer) / seconds);
        found.tokens_per_s(static_cast<double>(answer + plan) / seconds);
        found.latency_p50_s(statistics::quantile(latencies_s, 0.5));
        found.latency_p95_s(statistics::quantile(latencies_s, 0.95));
        found.prompt_tokens(prompt);
        found.recomputed_tokens(recomputed);
        // An empty prompt cannot be decoded from, but planned with.
        found.recomputed_fraction(
            prompt > 0 ? static_cast<double>(recomputed) / static_cast<double>(prompt) : 1);
        found.plan_tokens(plan);
        found.answer_tokens(answer);
    }
};

// ---- in virtual time

void run_simulated(const AnsweredPlans& settings, const Found& found) {
    const auto plans = plans_of(settings, plans_of_a_sample, settings.seed);
    const StepCosts costs = step_costs(model::named_shape(settings.model),
                                       device_profile(settings.device), mean_context(plans));
    double ar_ms = 0;
    const auto totals = [&](Mode mode) {
        Totals totals;
        ar_ms = 0;
        for (const PlanRecord& plan : plans) {
            const Schedule each = schedule(
                plan, costs,
                {.mode = mode, .reuse = settings.reuse, .warm = settings.start == Start::warm});
            totals.add(each);
            ar_ms += each.ar_ms;
        }
        return totals;
    };
    const Totals of_mode = totals(settings.mode);
    of_mode.record(found);
    found.speedup(ar_ms / 1e3 / of_mode.seconds);
    if (settings.mode == Mode::plato)
        found.pipeline_gain(totals(Mode::plato_nopipe).seconds / of_mode.seconds - 1);
}

// ---- on the engine

void run_measured(const AnsweredPlans& settings, const Found& found) {
    const LiveModel model(settings.activations);
    const auto questions = drawn_tokens(plans_of(settings, measured_plans, settings.seed),
                                        model.tokenizer(), settings.seed);
    const auto as = [&](Mode mode) {
        return LiveSettings{.answer = {.mode = mode,
                                       .reuse = settings.reuse,
                                       .warm = settings.start == Start::warm}};
    };
    const auto answered = [&](Mode mode) {
        return settings.engines == 1
                   ? model.run(questions, as(mode))
                   : model.run_on_processes(questions, as(mode), settings.engines);
    };
    // Neighbours in time, so that what else the machine does weighs on both alike.
    const double ar_s =
        found.options.with_ar && settings.mode != Mode::ar ? answered(Mode::ar).seconds : 0;
    const LiveRun run = answered(settings.mode);
    Totals totals;
    for (const LiveAnswer& answer : run.answers) totals.add(answer);
    totals.record(found);
    if (found.options.with_ar) found.speedup(ar_s > 0 ? ar_s / run.seconds : 1);
    if (found.options.with_waiting && settings.mode == Mode::plato)
        found.pipeline_gain(answered(Mode::plato_nopipe).seconds / run.seconds - 1);
    found.held_blocks(run.held_blocks);
    found.answers_crc32(run.answers_crc32);
    if (run.steps.empty()) return;  // engines in processes make their steps by themselves
    const StepCosts costs = fitted_costs(run.steps);
    found.step_ms(costs.step_ms);
    found.sequence_ms(costs.sequence_ms);
    found.prefill_ms(costs.prefill_ms);
    found.model_error(median_error(questions, run, costs, as(settings.mode)));
    found.controller_share(run.controller_s / run.seconds);
}

// ---- what is declared

std::vector<ProfilePlan> profiles(const PlansOptions& options) {
    auto plans = live_profiles({}, options.seconds_per_sample);
    ProfilePlan& toy = plans.front();
    if (options.simulated_first) std::swap(toy.provenances[0], toy.provenances[1]);
    toy.variants = options.toy_variants;
    for (ProfilePlan& plan : plans) plan.axes["engines"] = {};  // in cases only where asked for
    return plans;
}

}  // namespace

Experiment plans_experiment(Declaration<AnsweredPlans> declared, const PlansOptions& options) {
    declared.rest.says += fmt::format(
        " {} plans are drawn at random (the paper's are not published) and answered one after the "
        "other, in virtual time, by the policy's controller. A step's time is that of the model's "
        "shape on the device, 16-bit weights, by its profile: a constant and a part for each "
        "sequence. Measured, at toy: {} plans, the same controller, {} on this machine's cores by "
        "the engine; prompts and plans are tokens drawn at random, answers those that the model "
        "gives (or a file of plans records); nothing but static parts is kept between plans. "
        "Skeleton-of-Thought's instructions and lines are its own.",
        plans_of_a_sample, measured_plans, live_model);
    declared.rest.metrics = Found(options).specs();
    declared.rest.profiles = profiles(options);
    declared.axis(
        "start", &AnsweredPlans::start,
        "warm: static parts of prompts are cached before the questions come; cold: they are not",
        {Start::warm}, or_others);
    declared.part(machine_axes());
    declared.axis("engines", &AnsweredPlans::engines,
                  "measured: so many, in processes of their own that share the cores; where it is "
                  "not given one, in the sample's own",
                  {1, 2}, between(1, 16));
    declared.check([](const AnsweredPlans& settings) {
        if (settings.engines != 1 && !settings.measured())
            throw UserError("engines: only measured samples have processes");
    });
    declare_live(declared);
    return declared.runs([options](const AnsweredPlans& settings, Recorder& recorder) {
        const Found found(options, recorder);
        if (settings.measured())
            run_measured(settings, found);
        else
            run_simulated(settings, found);
    });
}

}  // namespace assay::plato
