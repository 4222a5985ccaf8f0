// Fig. 8, right: end-to-end decoding, dense against sparse.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/timing/decode_timing.hpp"
#include "suite/base/error.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/recorder.hpp"

#ifdef ASSAY_HAVE_TORCH
#include "impls/lte/tensor_functions.hpp"
#endif

namespace assay::lte {
namespace {

constexpr const char* model_id = "smollm2-135m-instruct";

void run(const SampleSpec& spec, Recorder& recorder) {
    EngineDecoding setting;
    setting.length = static_cast<int>(integer_axis(spec, "length", 1, 4096));
    if (spec.variant == "lte") setting.sparsity = number_axis(spec, "sparsity");
    setting.seed = spec.seed;
    setting.rounds = spec.profile == Profile::toy ? 15 : 60;
    const nn::TensorFile file(data::locate(model_id).value());
    record(
        time_engine(file, setting, [&](double fraction) { recorder.progress(fraction, "rounds"); }),
        recorder);
}

#ifdef ASSAY_HAVE_TORCH
/// LLaMA2-7B's shape on a GPU, in the module of tensors (fig8b_gpu.cpp).
void add_gpu_profile(Experiment& experiment) {
    const ProfilePlan* small = experiment.plan(Profile::small);
    ProfilePlan gpu = *small;
    gpu.profile = Profile::gpu;
    gpu.axes = {{"model", {"llama2-7b"}}};
    gpu.rounds = 3;
    gpu.seconds_per_sample = 40;
    experiment.profiles.push_back(gpu);
    const auto otherwise = experiment.unsupported;
    experiment.unsupported = [otherwise](const SampleSpec& spec) -> std::optional<std::string> {
        if (spec.profile != Profile::gpu) return otherwise(spec);
        if (auto lacks = tensors::module_lacks()) return lacks;
        return tensor_functions().gpu_decoding_lacks();
    };
    const auto inputs = experiment.inputs;
    experiment.inputs = [inputs](const SampleSpec& spec) {
        return spec.profile == Profile::gpu ? std::vector<Input>() : inputs(spec);
    };
    const auto run = experiment.run;
    experiment.run = [run](const SampleSpec& spec, Recorder& recorder) {
        if (spec.profile == Profile::gpu)
            return tensor_functions().run_fig8b_on_gpu(spec, recorder);
        run(spec, recorder);
    };
}
#endif

}  // namespace

Experiment fig8b() {
    Experiment experiment;
    experiment.id = "lte/fig8b";
    experiment.title = "End-to-end decoding, dense against sparse";
    experiment.source = "arXiv 2402.06126v4, section 5.3, Fig. 8 right";
    experiment.says =
        "Decoding SmolLM2-135M in bf16 on all cores, one sequence; at profile gpu a model of "
        "LLaMA2-7B's shape with random bf16 weights on the first GPU. lte computes a given share "
        "of the experts of every layer, drawn for each token, routers included: latency depends on "
        "how many are active, not on which, so that the text is of no use here. The dense decoder "
        "runs in the same rounds. The paper decodes LLaMA2-7B on one RTX 3090 Ti: a quarter less "
        "latency at 50 %. Feed-forward networks are 59 % of SmolLM2's weights, and the output "
        "matrix, which the larger model hardly notices, is 21 %.";
    experiment.axes = {{"model", "whose shape", {"smollm2-135m", "llama2-7b"}, false},
                       {"sparsity", "share of experts left out", {0.0, 0.25, 0.5, 0.75, 0.9}, true},
                       {"length",
                        "tokens in the cache when timing begins",
                        {std::int64_t{32}, std::int64_t{256}, std::int64_t{1024}},
                        true}};
    experiment.variants = {"dense", "lte"};
    experiment.metrics = {
        {"latency_s", "s", "per token, median over rounds", Direction::lower, false, {}},
        {"tokens_per_s", "1/s", "its inverse", Direction::higher, false, {}},
        {"latency_ratio",
         "ratio",
         "own over dense latency of the same round, median",
         Direction::lower,
         false,
         {}},
        {"latency_saved",
         "fraction",
         "of the dense latency, 1 - latency_ratio",
         Direction::higher,
         false,
         {}},
        {"bound_share",
         "share",
         "time to read a token's weights and cache at the bandwidth of a plain read in the same "
         "round, over latency, median",
         Direction::higher,
         false,
         {}},
        {"bytes_per_token",
         "B",
         "weights and cache read for one token",
         Direction::lower,
         true,
         {}},
        {"read_bandwidth",
         "GB/s",
         "of a plain read with the same threads (GPU: of the whole device), median over rounds",
         Direction::higher,
         false,
         {}}};
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
    experiment.profiles = {toy, small};
    experiment.figure = {Figure::Kind::lines, "latency_ratio",      "sparsity", {"model", "length"},
                         "sparsity",          "latency over dense", false};
    experiment.unsupported = [](const SampleSpec&) -> std::optional<std::string> {
        if (data::locate(model_id)) return std::nullopt;
        return fmt::format(
            "{0} is not here: scripts/models, then `assay data fetch {0} --from FILE`", model_id);
    };
    experiment.inputs = [](const SampleSpec&) -> std::vector<Input> {
        if (auto weights = data::input_of(model_id, "weights")) return {*std::move(weights)};
        return {};
    };
    experiment.validate = [](const SampleSpec& spec) {
        const std::string model = to_string(spec.axes.at("model"));
        if ((model == "llama2-7b") != (spec.profile == Profile::gpu))
            throw UserError(fmt::format(
                "model {} at profile {}: llama2-7b decodes at profile gpu, smollm2-135m "
                "at the others",
                model, to_string(spec.profile)));
        integer_axis(spec, "length", 1, 4096);
        const double sparsity = number_axis(spec, "sparsity");
        if (!(sparsity >= 0 && sparsity <= 1))
            throw UserError(fmt::format("sparsity {}: a share from 0 to 1", sparsity));
    };
    experiment.run = run;
#ifdef ASSAY_HAVE_TORCH
    add_gpu_profile(experiment);
#endif
    return experiment;
}

}  // namespace assay::lte
