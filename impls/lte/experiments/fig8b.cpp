// Fig. 8, right: end-to-end decoding, dense against sparse.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "impls/decode/engine.hpp"
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/median_of.hpp"
#include "impls/lte/experiments/timed_device.hpp"
#include "impls/lte/sparse_layers.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/axis_value.hpp"
#include "suite/experiment/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

constexpr const char* model_id = "smollm2-135m-instruct";
constexpr int block = 8;  ///< tokens between two changes of the engine

/// Decodes `block` tokens after the prompt and takes them back.
class Arm {
  public:
    Arm(const nn::TensorFile& file, int prompt_tokens)
        : engine_(file, options(prompt_tokens)), prompt_(static_cast<std::size_t>(prompt_tokens)) {
        // Ids of ordinary tokens; what they mean does not matter to time.
        std::iota(prompt_.begin(), prompt_.end(), 1000);
    }
    decode::Engine& engine() { return engine_; }

    double seconds_per_token() {
        if (engine_.position() == 0) engine_.feed(prompt_);
        engine_.rewind(static_cast<int>(prompt_.size()));
        const auto begin = std::chrono::steady_clock::now();
        for (int id = 0; id < block; ++id) engine_.feed(std::vector<int>{500 + id});
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
               block;
    }

  private:
    static decode::EngineOptions options(int prompt_tokens) {
        decode::EngineOptions options;
        options.weights = decode::WeightType::bf16;
        options.context = prompt_tokens + block;
        return options;
    }
    decode::Engine engine_;
    std::vector<int> prompt_;
};

void run(const SampleSpec& spec, Recorder& recorder) {
    const nn::TensorFile file(data::locate(model_id).value());
    const auto length = static_cast<int>(integer_axis(spec, "length", 1, 4096));
    const double sparsity = number_axis(spec, "sparsity");
    const int rounds = spec.profile == Profile::toy ? 15 : 60;
    Arm dense(file, length), own(file, length);
    if (spec.variant == "lte") {
        const auto& config = own.engine().config();
        auto layers = sparse_layers(file, config, spec.seed);
        const int experts = layers[0].experts;
        const decode::FixedActive active{static_cast<int>(std::lround((1 - sparsity) * experts)),
                                         spec.seed};
        own.engine().use_sparse(std::move(layers), active);
    }
    dense.seconds_per_token();
    own.seconds_per_token();
    // As many threads as the engine has, and the same instructions.
    const TimedDevice device(*assay_cpu_kernels(nullptr));
    const ReadBandwidth plain_read(device, std::size_t{512} << 20);
    const auto bytes = static_cast<double>(own.engine().bytes_per_token());
    std::vector<double> seconds, ratio, share, bandwidth;
    for (int round = 0; round < rounds; ++round) {
        const bool dense_first = round % 2 == 0;
        double other = dense_first ? dense.seconds_per_token() : 0;
        seconds.push_back(own.seconds_per_token());
        if (!dense_first) other = dense.seconds_per_token();
        ratio.push_back(seconds.back() / other);
        bandwidth.push_back(plain_read.measure());
        share.push_back(bytes / bandwidth.back() / seconds.back());
        recorder.progress(static_cast<double>(round + 1) / rounds, "rounds");
    }
    const double latency = median_of(seconds);
    recorder.metric("latency_s", latency);
    recorder.metric("tokens_per_s", 1 / latency);
    recorder.metric("latency_ratio", median_of(ratio));
    recorder.metric("latency_saved", 1 - median_of(ratio));
    recorder.metric("bound_share", median_of(share));
    recorder.metric("bytes_per_token", bytes);
    recorder.metric("read_bandwidth", median_of(bandwidth) / 1e9);
}

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
    toy.axes = {{"model", {"smollm2-135m"}}, {"length", {std::int64_t{32}}}};
    toy.rounds = 1;
    toy.seconds_per_sample = 12;
    ProfilePlan small = toy;
    small.profile = Profile::small;
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
    return experiment;
}

}  // namespace assay::lte
