#include "impls/lte/timing/decode_timing.hpp"

#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/cpu/back_end.hpp"
#include "impls/decode/networks/sparse_networks.hpp"
#include "kernels/cpu/random_weights.hpp"
#include "kernels/sparse_ffn/experts.hpp"
#include "suite/base/error.hpp"
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

/// Decodes the same tokens behind the same prompt again and again.
class EngineArm {
  public:
    EngineArm(std::shared_ptr<decode::CpuModel> model, const DecodedText& text)
        : engine_(back_end(std::move(model), text), {.max_batch = 1}) {
        request_.prompt = text.prompt;
        // What is given as the next token is fed; the last is not.
        request_.forced_ids = text.tokens;
        request_.forced_ids.push_back(text.tokens.back());
    }

    struct PerToken {
        double seconds = 0, bytes = 0;
    };
    /// Means over the tokens.
    PerToken decode() {
        using Clock = std::chrono::steady_clock;
        engine_.submit(request_);
        report_.clear();
        // All of the prompt but its last token is in the cache from the second time on.
        while (report_.tokens.empty() && !engine_.idle()) engine_.step(report_);
        PerToken sum;
        const Clock::time_point start = Clock::now();
        while (!engine_.idle()) {
            engine_.step(report_);
            sum.bytes += static_cast<double>(engine_.back_end().step_bytes());
        }
        sum.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (report_.tokens.size() != request_.forced_ids.size())
            throw UserError("the model gives no finite logits");
        const auto steps = static_cast<double>(request_.forced_ids.size() - 1);
        return {sum.seconds / steps, sum.bytes / steps};
    }

  private:
    static std::unique_ptr<decode::BackEnd> back_end(std::shared_ptr<decode::CpuModel> model,
                                                     const DecodedText& text) {
        const int blocks =
            decode::least_blocks(static_cast<int>(text.prompt.size()),
                                 static_cast<int>(text.tokens.size()) + 1, model->config.context);
        // One more, so that no beginning must be given up for a copy of its end.
        return std::make_unique<decode::CpuBackEnd>(std::move(model),
                                                    decode::PassOptions{.blocks = blocks + 1});
    }

    decode::BatchEngine engine_;
    decode::BatchRequest request_;
    decode::StepReport report_;
};

std::shared_ptr<decode::CpuModel> loaded(const nn::TensorFile& file, bool sparse) {
    return decode::load_model(file, {.weights = decode::WeightType::bf16, .sparse = sparse});
}

DecodeTimes time_arms(EngineArm& dense, EngineArm& own, const ReadBandwidth* read, int rounds,
                      const Progress& progress) {
    const double own_bytes = own.decode().bytes;
    dense.decode();
    return time_in_turns({.dense = [&] { return dense.decode().seconds; },
                          .own = [&] { return own.decode().seconds; },
                          .own_bytes = own_bytes},
                         read, rounds, progress);
}

}  // namespace

void record(const DecodeTimes& times, const DecodeFound& found) {
    found.latency_s(times.seconds);
    found.tokens_per_s(1 / times.seconds);
    found.latency_ratio(times.latency_ratio);
    found.latency_saved(1 - times.latency_ratio);
    found.bytes_per_token(times.bytes_per_token);
    if (times.bound_share) found.bound_share(*times.bound_share);
    if (times.read_bandwidth) found.read_bandwidth(*times.read_bandwidth / 1e9);
}

DecodeTimes time_in_turns(const DecodeArms& arms, const ReadBandwidth* read, int rounds,
                          const Progress& progress) {
    std::vector<double> seconds, ratio, share, bandwidth;
    for (int round = 0; round < rounds; ++round) {
        const bool dense_first = round % 2 == 0;
        double other = dense_first ? arms.dense() : 0;
        seconds.push_back(arms.own());
        if (!dense_first) other = arms.dense();
        ratio.push_back(seconds.back() / other);
        if (read) {
            bandwidth.push_back(read->measure());
            share.push_back(arms.own_bytes / bandwidth.back() / seconds.back());
        }
        progress(static_cast<double>(round + 1) / rounds);
    }
    DecodeTimes times{.seconds = median(seconds),
                      .latency_ratio = median(ratio),
                      .bytes_per_token = arms.own_bytes};
    if (read) {
        times.bound_share = median(share);
        times.read_bandwidth = median(bandwidth);
    }
    return times;
}

DecodeTimes time_engine(const nn::TensorFile& file, const EngineDecoding& setting,
                        const Progress& progress) {
    // Ids of ordinary tokens; what they mean does not matter to time.
    const DecodedText text{counted_from(1000, setting.length), counted_from(500, decoded_tokens)};
    const auto model = loaded(file, false);
    if (setting.sparsity) {
        auto layers = sparse_layers(file, model->config, setting.seed);
        const int experts = layers[0].experts;
        const decode::RandomExperts active{
            static_cast<int>(std::lround((1 - *setting.sparsity) * experts)), setting.seed};
        model->replace_networks(
            std::make_unique<decode::SparseNetworks>(model->config, std::move(layers), active),
            "experts at random");
    }
    EngineArm dense(loaded(file, false), text), own(model, text);
    // As many threads as the engine has, and the same instructions.
    const TimedDevice device(*assay_cpu_kernels(nullptr));
    const ReadBandwidth read(device, setting.read_pass_bytes);
    return time_arms(dense, own, &read, setting.rounds, progress);
}

DecodeTimes time_file(const nn::TensorFile& file, const DecodedText& text, int rounds,
                      bool beside_reads, const Progress& progress) {
    EngineArm dense(loaded(file, false), text), own(loaded(file, true), text);
    const TimedDevice device(*assay_cpu_kernels(nullptr));
    std::optional<ReadBandwidth> read;
    if (beside_reads) read.emplace(device, EngineDecoding{}.read_pass_bytes);
    return time_arms(dense, own, read ? &*read : nullptr, rounds, progress);
}

}  // namespace assay::lte
