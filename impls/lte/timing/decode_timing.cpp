#include "impls/lte/timing/decode_timing.hpp"

#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "impls/decode/engine.hpp"
#include "impls/decode/feed_forward_networks.hpp"
#include "kernels/cpu/random_weights.hpp"
#include "kernels/sparse_ffn/experts.hpp"
#include "suite/claim/quantity.hpp"

namespace assay::lte {
namespace {

std::vector<std::byte> random_router(const decode::SparseLayer& layer, std::size_t width,
                                     std::uint64_t seed) {
    std::vector<std::byte> router(static_cast<std::size_t>(layer.experts) * width * 2);
    kernels::repeat_pattern(kernels::random_weight_pattern(layer.type, seed), router);
    return router;
}

/// The feed-forward networks of a model file in expert order, with routers that nobody hears.
std::vector<decode::SparseLayer> sparse_layers(const nn::TensorFile& file,
                                               const nn::DecoderConfig& config,
                                               std::uint64_t seed) {
    auto layers =
        decode::expert_layers(file, config, kernels::neurons_per_expert, decode::WeightType::bf16);
    for (std::size_t i = 0; i < layers.size(); ++i)
        layers[i].router =
            random_router(layers[i], static_cast<std::size_t>(config.width), seed + i);
    return layers;
}

std::vector<int> counted_from(int first, int count) {
    std::vector<int> ids(static_cast<std::size_t>(count));
    std::iota(ids.begin(), ids.end(), first);
    return ids;
}

/// Decodes tokens after a prompt and takes them back.
class EngineArm {
  public:
    EngineArm(const nn::TensorFile& file, DecodedText text, bool sparse)
        : engine_(file, options(text, sparse)), text_(std::move(text)) {}
    decode::Engine& engine() { return engine_; }

    double seconds_per_token() {
        begin();
        const auto start = std::chrono::steady_clock::now();
        for (const int& id : text_.tokens) engine_.feed({&id, 1});
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
               static_cast<double>(text_.tokens.size());
    }

    /// Mean over the tokens.
    double bytes_per_token() {
        begin();
        double sum = 0;
        for (const int& id : text_.tokens) {
            engine_.feed({&id, 1});
            sum += static_cast<double>(engine_.bytes_per_token());
        }
        return sum / static_cast<double>(text_.tokens.size());
    }

  private:
    void begin() {
        if (engine_.position() == 0) engine_.feed(text_.prompt);
        engine_.rewind(static_cast<int>(text_.prompt.size()));
    }
    static decode::EngineOptions options(const DecodedText& text, bool sparse) {
        decode::EngineOptions options;
        options.weights = decode::WeightType::bf16;
        options.context = static_cast<int>(text.prompt.size() + text.tokens.size());
        options.sparse = sparse;
        return options;
    }
    decode::Engine engine_;
    DecodedText text_;
};

}  // namespace

void record(const DecodeTimes& times, Recorder& recorder) {
    recorder.metric("latency_s", times.seconds);
    recorder.metric("tokens_per_s", 1 / times.seconds);
    recorder.metric("latency_ratio", times.latency_ratio);
    recorder.metric("latency_saved", 1 - times.latency_ratio);
    recorder.metric("bound_share", times.bound_share);
    recorder.metric("bytes_per_token", times.bytes_per_token);
    recorder.metric("read_bandwidth", times.read_bandwidth / 1e9);
}

DecodeTimes time_rounds(const DecodeArms& arms, const ReadBandwidth& read, int rounds,
                        const Progress& progress) {
    std::vector<double> seconds, ratio, share, bandwidth;
    for (int round = 0; round < rounds; ++round) {
        const bool dense_first = round % 2 == 0;
        double other = dense_first ? arms.dense() : 0;
        seconds.push_back(arms.own());
        if (!dense_first) other = arms.dense();
        bandwidth.push_back(read.measure());
        ratio.push_back(seconds.back() / other);
        share.push_back(arms.own_bytes / bandwidth.back() / seconds.back());
        progress(static_cast<double>(round + 1) / rounds);
    }
    return {.seconds = median(seconds),
            .latency_ratio = median(ratio),
            .bound_share = median(share),
            .bytes_per_token = arms.own_bytes,
            .read_bandwidth = median(bandwidth)};
}

DecodeTimes time_engine(const nn::TensorFile& file, const EngineDecoding& setting,
                        const Progress& progress) {
    // Ids of ordinary tokens; what they mean does not matter to time.
    const DecodedText text{counted_from(1000, setting.length), counted_from(500, decoded_tokens)};
    EngineArm dense(file, text, false), own(file, text, false);
    if (setting.sparsity) {
        auto layers = sparse_layers(file, own.engine().config(), setting.seed);
        const int experts = layers[0].experts;
        const decode::RandomExperts active{
            static_cast<int>(std::lround((1 - *setting.sparsity) * experts)), setting.seed};
        own.engine().use_sparse(std::move(layers), active);
    }
    dense.seconds_per_token();
    own.seconds_per_token();
    // As many threads as the engine has, and the same instructions.
    const TimedDevice device(*assay_cpu_kernels(nullptr));
    const ReadBandwidth read(device, setting.read_pass_bytes);
    return time_rounds({.dense = [&] { return dense.seconds_per_token(); },
                        .own = [&] { return own.seconds_per_token(); },
                        .own_bytes = static_cast<double>(own.engine().bytes_per_token())},
                       read, setting.rounds, progress);
}

FileTimes time_file(const nn::TensorFile& file, const DecodedText& text, int rounds,
                    bool beside_reads, const Progress& progress) {
    EngineArm dense(file, text, false), own(file, text, true);
    FileTimes times{.bytes_per_token = own.bytes_per_token()};
    dense.seconds_per_token();
    const TimedDevice device(*assay_cpu_kernels(nullptr));
    std::optional<ReadBandwidth> read;
    if (beside_reads) read.emplace(device, EngineDecoding{}.read_pass_bytes);
    std::vector<double> seconds, ratio, share;
    for (int round = 0; round < rounds; ++round) {
        const bool dense_first = round % 2 == 0;
        double other = dense_first ? dense.seconds_per_token() : 0;
        seconds.push_back(own.seconds_per_token());
        if (!dense_first) other = dense.seconds_per_token();
        ratio.push_back(seconds.back() / other);
        if (read) share.push_back(times.bytes_per_token / read->measure() / seconds.back());
        progress(static_cast<double>(round + 1) / rounds);
    }
    times.seconds = median(seconds);
    times.latency_ratio = median(ratio);
    if (read) times.bound_share = median(share);
    return times;
}

}  // namespace assay::lte
