// Fig. 8, right: end-to-end decoding, dense against sparse.
#include "impls/lte/experiments/fig8b.hpp"

#include <fmt/format.h>

#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/timing/decode_timing.hpp"
#include "suite/base/error.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::lte {
namespace {

constexpr const char* model_id = "smollm2-135m-instruct";

void run(const Fig8b& fig8b, Recorder& recorder) {
    if (fig8b.profile == Profile::gpu) return decode_on_gpu(fig8b, recorder);
    EngineDecoding setting;
    setting.length = fig8b.length;
    if (fig8b.variant == DecodeVariant::lte) setting.sparsity = fig8b.sparsity;
    setting.seed = fig8b.seed;
    setting.rounds = fig8b.profile == Profile::toy ? 15 : 60;
    const nn::TensorFile file(data::locate(model_id).value());
    record(
        time_engine(file, setting, [&](double fraction) { recorder.progress(fraction, "rounds"); }),
        DecodeFound(recorder));
}

std::optional<std::string> lacks(const Fig8b& fig8b) {
    if (fig8b.profile == Profile::gpu) {
        if (auto reason = decode_on_gpu.lacks()) return reason;
        return gpu_decoding_lacks();
    }
    if (data::locate(model_id)) return std::nullopt;
    return fmt::format("{0} is not here: scripts/models, then `assay data fetch {0} --from FILE`",
                       model_id);
}

std::vector<Input> inputs(const Fig8b& fig8b) {
    if (fig8b.profile != Profile::gpu)
        if (auto weights = data::input_of(model_id, "weights")) return {*std::move(weights)};
    return {};
}

void check(const Fig8b& fig8b) {
    if ((fig8b.model == "llama2-7b") != (fig8b.profile == Profile::gpu))
        throw UserError(
            fmt::format("model {} at profile {}: llama2-7b decodes at profile gpu, "
                        "smollm2-135m at the others",
                        fig8b.model, to_string(fig8b.profile)));
}

std::vector<ProfilePlan> profiles_of_fig8b() {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.axes = {
        {"model", {"smollm2-135m"}}, {"length", {std::int64_t{32}}}, {"sparsity", {0.0, 0.5, 0.9}}};
    toy.variants = {"lte"};  // its rounds time the dense decoder too
    toy.rounds = 3;
    toy.seconds_per_sample = 12;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.variants = {};
    small.axes = {{"model", {"smollm2-135m"}}};
    small.rounds = 3;
    small.seconds_per_sample = 60;
    small.timeout_s = 3600;
    ProfilePlan gpu = small;
    gpu.profile = Profile::gpu;
    gpu.axes = {{"model", {"llama2-7b"}}};
    gpu.rounds = 3;
    gpu.seconds_per_sample = 40;
    return {toy, small, gpu};
}

}  // namespace

Experiment fig8b() {
    Declaration<Fig8b> fig8b(
        {.id = "lte/fig8b",
         .title = "End-to-end decoding, dense against sparse",
         .source = "arXiv 2402.06126v4, section 5.3, Fig. 8 right",
         .says =
             "Decoding SmolLM2-135M in bf16 on all cores, one sequence; at profile gpu a model of "
             "LLaMA2-7B's shape with random bf16 weights on the first GPU. lte computes a given "
             "share of the experts of every layer, drawn for each token, routers included: latency "
             "depends on how many are active, not on which, so that the text is of no use here. "
             "The dense decoder runs in the same rounds. The paper decodes LLaMA2-7B on one RTX "
             "3090 Ti: a quarter less latency at 50 %. Feed-forward networks are 59 % of SmolLM2's "
             "weights, and the output matrix, which the larger model hardly notices, is 21 %.",
         .metrics = declared<DecodeFound>(),
         .profiles = profiles_of_fig8b(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "latency_ratio",
                    .x = "sparsity",
                    .panels = {"model", "length"},
                    .x_title = "sparsity",
                    .y_title = "latency over dense"}});
    fig8b.axis("model", &Fig8b::model, "whose shape", {"smollm2-135m", "llama2-7b"});
    fig8b.axis("sparsity", &Fig8b::sparsity, "share of experts left out", {0, 0.25, 0.5, 0.75, 0.9},
               between(0, 1));
    fig8b.axis("length", &Fig8b::length, "tokens in the cache when timing begins", {32, 256, 1024},
               between(1, 4096));
    fig8b.variants(&Fig8b::variant);
    fig8b.given(&Fig8b::profile, &SampleSpec::profile);
    fig8b.given(&Fig8b::seed, &SampleSpec::seed);
    fig8b.check(check);
    fig8b.unsupported(lacks);
    fig8b.inputs(inputs);
    return fig8b.runs(run);
}

}  // namespace assay::lte
