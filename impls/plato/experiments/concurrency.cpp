// Many questions at once: batches fill without plans, too, and what planning gains shrinks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "impls/decode/modelled/device_cost.hpp"
#include "impls/model/named_models.hpp"
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/measured_plans.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::plato {
namespace {

constexpr int simulated_rounds = 4;  // questions: so many times those at once
constexpr int modelled_context = 4096, modelled_batch = 256, modelled_vocabulary = 1 << 16;

struct Concurrency : MachinePlans {
    int questions = 0;
    Mode mode{};
};

LiveRun run_modelled(const Machine& machine, const std::vector<QuestionTokens>& questions,
                     LiveSettings settings) {
    settings.modelled_time = true;
    settings.max_batch = modelled_batch;
    return run_live(questions,
                    std::make_unique<decode::ModelledBackEnd>(decode::ModelledSettings{
                        .vocabulary = modelled_vocabulary,
                        .context = modelled_context,
                        .blocks = blocks_for(questions, settings.concurrency),
                        .cost = decode::device_step_cost(model::named_shape(machine.model),
                                                         device_profile(machine.device))}),
                    settings);
}

struct Found : Metrics {
    using Metrics::Metrics;
    const std::vector<Provenance> live{Provenance::measured};
    Metric speedup =
        exact_unless(live, "speedup", "ratio",
                     "time without plans over time with them, of all questions", higher);
    Metric answer_tokens_per_s = exact_unless(live, "answer_tokens_per_s", "1/s",
                                              "tokens of answers, without those of plans", higher);
    Metric tokens_per_s =
        exact_unless(live, "tokens_per_s", "1/s", "tokens of answers and plans", higher);
    Metric latency_p50_s = exact_unless(
        live, "latency_p50_s", "s", "from a question's turn to its whole answer: median", lower);
    Metric latency_p95_s = exact_unless(live, "latency_p95_s", "s", "… 95 % are faster", lower);
    Metric held_blocks =
        exact("held_blocks", "count", "of the cache, when all is answered and given up", lower);
};

void run(const Concurrency& concurrency, Recorder& recorder) {
    const int at_once = concurrency.questions;
    const int count = concurrency.measured() ? at_once : simulated_rounds * at_once;
    auto plans = plans_of(concurrency, count, concurrency.seed);
    // A file's from its beginning again; each is asked another question all the same.
    for (std::size_t i = 0; static_cast<int>(plans.size()) < count; ++i) plans.push_back(plans[i]);
    plans.resize(static_cast<std::size_t>(count));
    LiveSettings settings{.concurrency = at_once};
    LiveRun with, without;
    const auto both = [&](const auto& run) {
        settings.answer.mode = concurrency.mode;
        with = run(settings);
        settings.answer.mode = Mode::ar;
        without = concurrency.mode == Mode::ar ? with : run(settings);
    };
    if (concurrency.measured()) {
        const LiveModel model(concurrency.activations);
        const auto questions = drawn_tokens(plans, model.tokenizer(), concurrency.seed);
        both([&](const LiveSettings& each) { return model.run(questions, each); });
    } else {
        const auto questions = drawn_tokens(plans, modelled_vocabulary, concurrency.seed);
        both([&](const LiveSettings& each) { return run_modelled(concurrency, questions, each); });
    }
    std::int64_t answer = 0, plan = 0;
    std::vector<double> latencies_s;
    for (const LiveAnswer& each : with.answers) {
        answer += each.answer_tokens;
        plan += each.plan_tokens;
        latencies_s.push_back(each.seconds);
    }
    const Found found(recorder);
    found.speedup(without.seconds / with.seconds);
    found.answer_tokens_per_s(static_cast<double>(answer) / with.seconds);
    found.tokens_per_s(static_cast<double>(answer + plan) / with.seconds);
    found.latency_p50_s(statistics::quantile(latencies_s, 0.5));
    found.latency_p95_s(statistics::quantile(latencies_s, 0.95));
    found.held_blocks(with.held_blocks);
}

}  // namespace

Experiment concurrency() {
    Declaration<Concurrency> concurrency(
        {.id = "plato/concurrency",
         .title = "Many questions at once",
         .source = "our own: the paper's abstract does not say how many it answers at once",
         .says = fmt::format(
             "So many questions are open at any time; one that is answered makes room for the "
             "next. Simulated: the engine's scheduler in virtual time, a model's shape on a device "
             "at its profile's peaks, 16-bit weights, {} questions for each at once. Measured: {}, "
             "as many questions as at once. Prompts take the longest common prefix from the cache "
             "(L2).",
             simulated_rounds, live_model),
         .metrics = declared<Found>(),
         .profiles = live_profiles({{"concurrency", Sweep<int>{1, 4, 16}.values},
                                    {"plans", Sweep<std::string>{"mixed"}.values}},
                                   90),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "answer_tokens_per_s",
                    .x = "concurrency",
                    .panels = {"plans", "model"},
                    .x_title = "questions at once",
                    .y_title = "answer tokens per second"}});
    concurrency.rest.profiles.front().variants = {"ar", "plato"};
    concurrency.axis("concurrency", &Concurrency::questions, "questions at once",
                     {1, 2, 4, 8, 16, 32}, between(1, 256));
    concurrency.part(plans_axes());
    concurrency.part(machine_axes());
    concurrency.variants(&Concurrency::mode,
                         {Mode::ar, Mode::sot, Mode::plato_nopipe, Mode::plato});
    declare_live(concurrency);
    return concurrency.runs(run);
}

}  // namespace assay::plato
