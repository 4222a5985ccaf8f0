// The curve by which batches pay: the time of a step, by how many sequences it has.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "impls/model/named_models.hpp"
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/measured_plans.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "impls/plato/simulated/device_times.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::plato {
namespace {

constexpr int context = 256, measured_steps = 32;

double simulated_step_s(const SampleSpec& spec, int batch) {
    return step_seconds(model::named_shape(word_axis(spec, "model")),
                        device_profile(word_axis(spec, "device")), batch, context);
}

/// Mean over steps in which all sequences decode and nothing else happens.
double measured_step_s(const SampleSpec& spec, int batch) {
    const LiveModel model(spec);
    const PlanRecord prompts{.id = "prompts", .question_tokens = context, .nodes = {NodeRecord{}}};
    const int blocks = batch * ((context + measured_steps) / decode::block_positions + 3);
    decode::BatchEngine engine(model.back_end(blocks),
                               {.max_batch = batch, .chunk = batch * context, .prefix = false});
    for (int i = 0; i < batch; ++i) {
        const auto question =
            drawn_tokens({prompts}, model.tokenizer(), spec.seed + static_cast<std::uint64_t>(i));
        engine.submit({.prompt = question[0].question, .max_tokens = measured_steps + 1});
    }
    decode::StepReport report;
    engine.step(report);  // the prompts
    report.clear();
    while (!engine.idle()) engine.step(report);
    return report.seconds / report.steps;
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const int batch = static_cast<int>(integer_axis(spec, "batch"));
    const double step_s = spec.provenance == Provenance::measured ? measured_step_s(spec, batch)
                                                                  : simulated_step_s(spec, batch);
    recorder.metric("step_ms", 1e3 * step_s);
    recorder.metric("tokens_per_s", batch / step_s);
}

}  // namespace

Experiment batch() {
    Experiment experiment;
    experiment.id = "plato/batch";
    experiment.title = "The time of a step, by sequences";
    experiment.source = "our own: what decoding side by side rests on";
    experiment.says = fmt::format(
        "A step that gives each of so many sequences a token, {} tokens cached of each. Simulated: "
        "a model's shape on a device, 16-bit weights, by its profile. Measured: {} by the engine "
        "on all cores of this machine, the mean over {} steps.",
        context, live_model, measured_steps);
    const auto whole = [](std::int64_t n) { return Value(n); };
    experiment.axes = {{"batch",
                        "sequences",
                        {whole(1), whole(2), whole(4), whole(8), whole(16), whole(32), whole(64)},
                        true}};
    for (Axis& axis : machine_axes()) experiment.axes.push_back(std::move(axis));
    experiment.variants = {"engine"};
    using enum Direction;
    experiment.metrics = {
        {"step_ms", "ms", "of a step", lower, true, {}, {}, {Provenance::measured}},
        {"tokens_per_s", "1/s", "of all sequences", higher, true, {}, {}, {Provenance::measured}}};
    experiment.profiles =
        live_profiles({{"batch", {whole(1), whole(2), whole(4), whole(8), whole(16)}}}, 10);
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "tokens_per_s",
                         .x = "batch",
                         .panels = {"model", "device"},
                         .x_title = "sequences in a step",
                         .y_title = "tokens per second"};
    experiment.validate = [](const SampleSpec& spec) {
        integer_axis(spec, "batch", 1, 1024);
        validate_axes(spec);
    };
    declare_live(experiment);
    experiment.run = run;
    return experiment;
}

}  // namespace assay::plato
