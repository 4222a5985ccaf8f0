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

struct Batch : Machine {
    int sequences = 0;
};

double simulated_step_s(const Batch& batch) {
    return step_seconds(model::named_shape(batch.model), device_profile(batch.device),
                        batch.sequences, context);
}

/// Mean over steps in which all sequences decode and nothing else happens.
double measured_step_s(const Batch& batch) {
    const int sequences = batch.sequences;
    const LiveModel model(batch.activations);
    const PlanRecord prompts{.id = "prompts", .question_tokens = context, .nodes = {NodeRecord{}}};
    const int blocks = sequences * ((context + measured_steps) / decode::block_positions + 3);
    decode::BatchEngine engine(
        model.back_end(blocks),
        {.max_batch = sequences, .chunk = sequences * context, .prefix = false});
    for (int i = 0; i < sequences; ++i) {
        const auto question =
            drawn_tokens({prompts}, model.tokenizer(), batch.seed + static_cast<std::uint64_t>(i));
        engine.submit({.prompt = question[0].question, .max_tokens = measured_steps + 1});
    }
    decode::StepReport report;
    engine.step(report);  // the prompts
    report.clear();
    while (!engine.idle()) engine.step(report);
    return report.seconds / report.steps;
}

void run(const Batch& batch, Recorder& recorder) {
    const double step_s = batch.measured() ? measured_step_s(batch) : simulated_step_s(batch);
    recorder.metric("step_ms", 1e3 * step_s);
    recorder.metric("tokens_per_s", batch.sequences / step_s);
}

}  // namespace

Experiment batch() {
    using enum Direction;
    const std::vector<Provenance> live{Provenance::measured};
    Declaration<Batch> batch(
        {.id = "plato/batch",
         .title = "The time of a step, by sequences",
         .source = "our own: what decoding side by side rests on",
         .says = fmt::format("A step that gives each of so many sequences a token, {} tokens "
                             "cached of each. Simulated: a model's shape on a device, 16-bit "
                             "weights, by its profile. Measured: {} by the engine on all cores of "
                             "this machine, the mean over {} steps.",
                             context, live_model, measured_steps),
         .variants = {"engine"},
         .metrics = {{"step_ms", "ms", "of a step", lower, true, {}, {}, live},
                     {"tokens_per_s", "1/s", "of all sequences", higher, true, {}, {}, live}},
         .profiles = live_profiles({{"batch", Sweep<int>{1, 2, 4, 8, 16}.values}}, 10),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "tokens_per_s",
                    .x = "batch",
                    .panels = {"model", "device"},
                    .x_title = "sequences in a step",
                    .y_title = "tokens per second"}});
    batch.axis("batch", &Batch::sequences, "sequences", {1, 2, 4, 8, 16, 32, 64}, between(1, 1024));
    batch.part(machine_axes());
    declare_live(batch);
    return batch.runs(run);
}

}  // namespace assay::plato
