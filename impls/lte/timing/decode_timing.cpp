#include "impls/lte/timing/decode_timing.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "impls/decode/engine.hpp"
#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/files/stored_tensor.hpp"
#include "kernels/cpu/random_weights.hpp"
#include "kernels/sparse_ffn/experts.hpp"
#include "suite/base/error.hpp"
#include "suite/claim/quantity.hpp"

namespace assay::lte {
namespace {

std::vector<std::byte> in_bfloat16(const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * 2);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t half = nn::to_bfloat16(values[i]);
        std::memcpy(&bytes[2 * i], &half, 2);
    }
    return bytes;
}

std::vector<float> transposed(const std::vector<float>& values, std::size_t rows,
                              std::size_t columns) {
    std::vector<float> result(values.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = values[r * columns + c];
    return result;
}

std::vector<std::byte> random_router(const decode::SparseLayer& layer, std::size_t width,
                                     std::uint64_t seed) {
    std::vector<std::byte> router(static_cast<std::size_t>(layer.experts) * width * 2);
    kernels::repeat_pattern(kernels::random_weight_pattern(layer.type, seed), router);
    return router;
}

/// The feed-forward networks of a model file in expert order, as the engine takes them.
std::vector<decode::SparseLayer> sparse_layers(const nn::TensorFile& file,
                                               const nn::DecoderConfig& config,
                                               std::uint64_t seed) {
    if (config.hidden % kernels::neurons_per_expert != 0)
        throw UserError(fmt::format("{} neurons are no multiple of {}", config.hidden,
                                    kernels::neurons_per_expert));
    const auto width = static_cast<std::size_t>(config.width);
    const auto hidden = static_cast<std::size_t>(config.hidden);
    std::vector<decode::SparseLayer> layers;
    for (int i = 0; i < config.layers; ++i) {
        const auto read = [&](const char* name, std::size_t elements) {
            std::vector<float> values(elements);
            nn::read_parameter(file, config, fmt::format("layer{}/{}", i, name), values);
            return values;
        };
        decode::SparseLayer layer;
        layer.experts = config.hidden / layer.expert_size;
        if (config.activation == nn::Activation::swiglu)
            layer.gate = in_bfloat16(read("gate", hidden * width));
        layer.up = in_bfloat16(read("up", hidden * width));
        layer.down = in_bfloat16(transposed(read("down", width * hidden), width, hidden));
        if (config.family == nn::Family::gpt2) {
            layer.up_bias = read("up_bias", hidden);
            layer.down_bias = read("down_bias", width);
        }
        layer.router = random_router(layer, width, seed + static_cast<std::uint64_t>(i));
        layers.push_back(std::move(layer));
    }
    return layers;
}

/// Decodes some tokens after the prompt and takes them back.
class EngineArm {
  public:
    EngineArm(const nn::TensorFile& file, int prompt_tokens)
        : engine_(file, options(prompt_tokens)), prompt_(static_cast<std::size_t>(prompt_tokens)) {
        // Ids of ordinary tokens; what they mean does not matter to time.
        std::iota(prompt_.begin(), prompt_.end(), 1000);
    }
    decode::Engine& engine() { return engine_; }

    double seconds_per_token() {
        if (engine_.position() == 0) engine_.feed(prompt_);
        engine_.rewind(static_cast<int>(prompt_.size()));
        const auto begin = std::chrono::steady_clock::now();
        for (int id = 0; id < decoded_tokens; ++id) engine_.feed(std::vector<int>{500 + id});
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
               decoded_tokens;
    }

  private:
    static decode::EngineOptions options(int prompt_tokens) {
        decode::EngineOptions options;
        options.weights = decode::WeightType::bf16;
        options.context = prompt_tokens + decoded_tokens;
        return options;
    }
    decode::Engine engine_;
    std::vector<int> prompt_;
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
    EngineArm dense(file, setting.length), own(file, setting.length);
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

}  // namespace assay::lte
