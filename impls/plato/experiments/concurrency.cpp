// Many questions at once: batches fill without plans, too, and what planning gains shrinks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "impls/decode/modelled/device_cost.hpp"
#include "impls/model/named_models.hpp"
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/measured_plans.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::plato {
namespace {

constexpr int simulated_rounds = 4;  // questions: so many times those at once
constexpr int modelled_context = 4096, modelled_batch = 256, modelled_vocabulary = 1 << 16;

LiveRun run_modelled(const SampleSpec& spec, const std::vector<QuestionTokens>& questions,
                     LiveSettings settings) {
    settings.modelled_time = true;
    settings.max_batch = modelled_batch;
    return run_live(
        questions,
        std::make_unique<decode::ModelledBackEnd>(decode::ModelledSettings{
            .vocabulary = modelled_vocabulary,
            .context = modelled_context,
            .blocks = blocks_for(questions, settings.concurrency),
            .cost = decode::device_step_cost(model::named_shape(word_axis(spec, "model")),
                                             device_profile(word_axis(spec, "device")))}),
        settings);
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const int concurrency = static_cast<int>(integer_axis(spec, "concurrency"));
    const bool measured = spec.provenance == Provenance::measured;
    const int count = measured ? concurrency : simulated_rounds * concurrency;
    auto plans = plans_of(spec, count);
    // A file's from its beginning again; each is asked another question all the same.
    for (std::size_t i = 0; static_cast<int>(plans.size()) < count; ++i) plans.push_back(plans[i]);
    plans.resize(static_cast<std::size_t>(count));
    LiveSettings settings{.concurrency = concurrency};
    LiveRun with, without;
    const auto both = [&](const auto& run) {
        settings.answer.mode = of_word<Mode>(spec.variant).value();
        with = run(settings);
        settings.answer.mode = Mode::ar;
        without = spec.variant == "ar" ? with : run(settings);
    };
    if (measured) {
        const LiveModel model(spec);
        const auto questions = drawn_tokens(plans, model.tokenizer(), spec.seed);
        both([&](const LiveSettings& each) { return model.run(questions, each); });
    } else {
        const auto questions = drawn_tokens(plans, modelled_vocabulary, spec.seed);
        both([&](const LiveSettings& each) { return run_modelled(spec, questions, each); });
    }
    std::int64_t answer = 0, plan = 0;
    std::vector<double> latencies_s;
    for (const LiveAnswer& each : with.answers) {
        answer += each.answer_tokens;
        plan += each.plan_tokens;
        latencies_s.push_back(each.seconds);
    }
    recorder.metric("speedup", without.seconds / with.seconds);
    recorder.metric("answer_tokens_per_s", static_cast<double>(answer) / with.seconds);
    recorder.metric("tokens_per_s", static_cast<double>(answer + plan) / with.seconds);
    recorder.metric("latency_p50_s", statistics::quantile(latencies_s, 0.5));
    recorder.metric("latency_p95_s", statistics::quantile(latencies_s, 0.95));
    recorder.metric("held_blocks", with.held_blocks);
}

}  // namespace

Experiment concurrency() {
    Experiment experiment;
    experiment.id = "plato/concurrency";
    experiment.title = "Many questions at once";
    experiment.source = "our own: the paper's abstract does not say how many it answers at once";
    experiment.says = fmt::format(
        "So many questions are open at any time; one that is answered makes room for the next. "
        "Simulated: the engine's scheduler in virtual time, a model's shape on a device at its "
        "profile's peaks, 16-bit weights, {} questions for each at once. Measured: {}, as many "
        "questions as at once. Prompts take the longest common prefix from the cache (L2).",
        simulated_rounds, live_model);
    const auto whole = [](std::int64_t n) { return Value(n); };
    experiment.axes = {{"concurrency",
                        "questions at once",
                        {whole(1), whole(2), whole(4), whole(8), whole(16), whole(32)},
                        true},
                       plans_axis()};
    for (Axis& axis : machine_axes()) experiment.axes.push_back(std::move(axis));
    experiment.variants = {"ar", "sot", "plato_nopipe", "plato"};
    using enum Direction;
    const std::vector<Provenance> live{Provenance::measured};
    experiment.metrics = {
        {"speedup",
         "ratio",
         "time without plans over time with them, of all questions",
         higher,
         true,
         {},
         {},
         live},
        {"answer_tokens_per_s",
         "1/s",
         "tokens of answers, without those of plans",
         higher,
         true,
         {},
         {},
         live},
        {"tokens_per_s", "1/s", "tokens of answers and plans", higher, true, {}, {}, live},
        {"latency_p50_s",
         "s",
         "from a question's turn to its whole answer: median",
         lower,
         true,
         {},
         {},
         live},
        {"latency_p95_s", "s", "… 95 % are faster", lower, true, {}, {}, live},
        {"held_blocks", "count", "of the cache, when all is answered and given up", lower, true}};
    experiment.profiles = live_profiles(
        {{"concurrency", {whole(1), whole(4), whole(16)}}, {"plans", {std::string("mixed")}}}, 90);
    for (ProfilePlan& plan : experiment.profiles)
        if (plan.profile == Profile::toy) plan.variants = {"ar", "plato"};
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "answer_tokens_per_s",
                         .x = "concurrency",
                         .panels = {"plans", "model"},
                         .x_title = "questions at once",
                         .y_title = "answer tokens per second"};
    experiment.validate = [](const SampleSpec& spec) {
        integer_axis(spec, "concurrency", 1, 256);
        validate_axes(spec);
    };
    declare_live(experiment);
    experiment.run = run;
    return experiment;
}

}  // namespace assay::plato
