#include "impls/decode/forward_pass.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "impls/decode/products.hpp"
#include "kernels/cpu/element_types.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

// Sums in several strands, so that no addition waits for the one before; term(i) of each element.
template <class Term>
float sum_of(int width, const Term& term) {
    constexpr int strands = 16;
    float partial[strands] = {};
    int i = 0;
    for (; i + strands <= width; i += strands)
        for (int s = 0; s < strands; ++s) partial[s] += term(i + s);
    for (; i < width; ++i) partial[i % strands] += term(i);
    for (int step = strands / 2; step > 0; step /= 2)
        for (int s = 0; s < step; ++s) partial[s] += partial[s + step];
    return partial[0];
}

/// out = x / rms(x) · weight. All: [width].
void rms_norm(const float* x, const float* weight, double epsilon, int width, float* out) {
    const float squares = sum_of(width, [&](int i) { return x[i] * x[i]; });
    const auto scale =
        static_cast<float>(1.0 / std::sqrt(static_cast<double>(squares) / width + epsilon));
    for (int i = 0; i < width; ++i) out[i] = x[i] * scale * weight[i];
}

/// out = (x − mean) / deviation · weight + bias.
void layer_norm(const float* x, const float* weight, const float* bias, double epsilon, int width,
                float* out) {
    const float mean = sum_of(width, [&](int i) { return x[i]; }) / static_cast<float>(width);
    const float squares = sum_of(width, [&](int i) { return (x[i] - mean) * (x[i] - mean); });
    const auto scale =
        static_cast<float>(1.0 / std::sqrt(static_cast<double>(squares) / width + epsilon));
    for (int i = 0; i < width; ++i) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

/// x += y.
void add(float* x, const float* y, int width) {
    for (int i = 0; i < width; ++i) x[i] += y[i];
}

/// Rotates each head's halves against each other: pair (i, i + head_width/2) by the angle whose
/// cosine and sine are given, [head_width/2]. Then multiplies by `scale`.
void rotate(float* x, int heads, int head_width, const float* cosine, const float* sine,
            float scale) {
    const int half = head_width / 2;
    for (int head = 0; head < heads; ++head, x += head_width)
        for (int i = 0; i < half; ++i) {
            const float a = x[i], b = x[i + half];
            x[i] = (a * cosine[i] - b * sine[i]) * scale;
            x[i + half] = (b * cosine[i] + a * sine[i]) * scale;
        }
}

bool wants_digits(const WeightMatrix& matrix) {
    return matrix.interleaved && kernels::is_quantised(matrix.type);
}

// Any of these matrices, in any layer.
bool any_wants_digits(const Weights& weights,
                      std::initializer_list<WeightMatrix LayerWeights::*> matrices) {
    for (const LayerWeights& layer : weights.layers)
        for (const auto matrix : matrices)
            if (wants_digits(layer.*matrix)) return true;
    return false;
}

std::size_t floats_of(int tokens, int width) {
    return static_cast<std::size_t>(tokens) * static_cast<std::size_t>(width);
}

}  // namespace

const AssayKernels* ForwardPass::kernels_of_processor() { return assay_cpu_kernels(nullptr); }

ForwardPass::ForwardPass(const nn::DecoderConfig& config, Weights weights, int positions,
                         int threads)
    : config_(config),
      weights_(std::move(weights)),
      context_(kernels_of_processor()->create(threads, 0, nullptr)),
      cache_(config, positions),
      attention_(config, positions),
      normalised_(config.width,
                  wants_digits(weights_.output) ||
                      any_wants_digits(
                          weights_, {&LayerWeights::query, &LayerWeights::key, &LayerWeights::value,
                                     &LayerWeights::gate, &LayerWeights::up})),
      mixed_(config.heads * config.head_width,
             any_wants_digits(weights_, {&LayerWeights::attention_out})),
      hidden_(config.hidden, any_wants_digits(weights_, {&LayerWeights::down})),
      stream_(floats_of(largest_batch, config.width)),
      query_(floats_of(largest_batch, config.heads * config.head_width)),
      key_(floats_of(largest_batch, config.kv_heads * config.head_width)),
      value_(key_.size()),
      change_(stream_.size()),
      logits_(static_cast<std::size_t>(config.vocabulary)) {
    if (!context_)
        throw UserError("the engine's " + std::to_string(threads) +
                        " threads could not be started; ask for fewer");
    if (config_.family != nn::Family::llama) return;
    const int half = config_.head_width / 2;
    for (int i = 0; i < half; ++i)
        frequencies_.push_back(std::pow(config_.rope_base, -2.0 * i / config_.head_width));
    cosine_.resize(frequencies_.size());
    sine_.resize(frequencies_.size());
}

void ForwardPass::replace_networks(std::unique_ptr<FeedForwardNetworks> networks) {
    sparse_ = std::move(networks);
    for (LayerWeights& layer : weights_.layers) layer.gate = layer.up = layer.down = {};
    weights_.ffn_matrices.reset();
}

void ForwardPass::run(std::span<const int> ids, int position, Logits wanted) {
    const int tokens = static_cast<int>(ids.size());
    embed(ids, position);
    for (int layer = 0; layer < config_.layers; ++layer) {
        attend(layer, position, tokens);
        feed_forward(layer, position, tokens);
    }
    if (wanted == Logits::none) return;
    const int first = wanted == Logits::last ? tokens - 1 : 0;
    normalise(weights_.final_norm, first, tokens - first);
    if (wanted == Logits::each)
        logits_.resize(std::max(logits_.size(), floats_of(tokens, config_.vocabulary)));
    const Product product{&weights_.output, logits_.data()};
    multiply(*context_, {&product, 1}, normalised_);
}

void ForwardPass::embed(std::span<const int> ids, int position) {
    const int width = config_.width;
    for (int t = 0; t < static_cast<int>(ids.size()); ++t) {
        float* const x = row(stream_, t, width);
        read_row(weights_.embedding, ids[static_cast<std::size_t>(t)],
                 {x, static_cast<std::size_t>(width)});
        if (!weights_.position_embedding.empty())
            add(x, weights_.position_embedding.data() + (position + t) * width, width);
    }
}

void ForwardPass::normalise(const Norm& norm, int first, int tokens) {
    const int width = config_.width;
    for (int t = 0; t < tokens; ++t) {
        const float* const x = row(stream_, first + t, width);
        float* const out = normalised_.row(t);
        if (norm.bias.empty())
            rms_norm(x, norm.weight.data(), config_.norm_epsilon, width, out);
        else
            layer_norm(x, norm.weight.data(), norm.bias.data(), config_.norm_epsilon, width, out);
    }
    normalised_.ready(tokens);
}

void ForwardPass::rotate_token(int token, int position) {
    const int width = config_.head_width;
    // Scores are divided by the root of the head's width: done once, to the query.
    const auto scale = static_cast<float>(1.0 / std::sqrt(width));
    float* const query = row(query_, token, config_.heads * width);
    if (frequencies_.empty()) {
        for (int i = 0; i < config_.heads * width; ++i) query[i] *= scale;
        return;
    }
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
        const double angle = position * frequencies_[i];
        cosine_[i] = static_cast<float>(std::cos(angle));
        sine_[i] = static_cast<float>(std::sin(angle));
    }
    rotate(query, config_.heads, width, cosine_.data(), sine_.data(), scale);
    rotate(row(key_, token, config_.kv_heads * width), config_.kv_heads, width, cosine_.data(),
           sine_.data(), 1.0f);
}

void ForwardPass::attend(int index, int position, int tokens) {
    const LayerWeights& layer = weights_.layers[static_cast<std::size_t>(index)];
    const int kv_width = config_.kv_heads * config_.head_width;
    normalise(layer.attention_norm, 0, tokens);
    const Product products[] = {
        {&layer.query, query_.data()}, {&layer.key, key_.data()}, {&layer.value, value_.data()}};
    multiply(*context_, products, normalised_);
    for (int t = 0; t < tokens; ++t) {
        rotate_token(t, position + t);
        cache_.put(index, position + t, row(key_, t, kv_width), row(value_, t, kv_width));
    }
    attention_.run(*context_, cache_, index, position, tokens, query_.data(), mixed_.row(0));
    mixed_.ready(tokens);
    const Product product{&layer.attention_out, change_.data()};
    multiply(*context_, {&product, 1}, mixed_);
    add_to_stream(tokens);
}

void ForwardPass::feed_forward(int index, int position, int tokens) {
    const LayerWeights& layer = weights_.layers[static_cast<std::size_t>(index)];
    normalise(layer.ffn_norm, 0, tokens);
    if (sparse_) {
        sparse_->run(*context_, index, position, normalised_, change_.data());
    } else {
        activate(*context_, layer.gate, layer.up, config_.activation, normalised_, hidden_.row(0));
        hidden_.ready(tokens);
        const Product product{&layer.down, change_.data()};
        multiply(*context_, {&product, 1}, hidden_);
    }
    add_to_stream(tokens);
}

void ForwardPass::add_to_stream(int tokens) {
    add(stream_.data(), change_.data(), tokens * config_.width);
}

std::uint64_t ForwardPass::bytes_per_token(int position) const {
    const auto norm_bytes = [](const Norm& norm) {
        return (norm.weight.size() + norm.bias.size()) * sizeof(float);
    };
    std::uint64_t bytes = stored_bytes(weights_.output) + norm_bytes(weights_.final_norm) +
                          row_bytes(weights_.embedding);
    if (!weights_.position_embedding.empty())
        bytes += static_cast<std::uint64_t>(config_.width) * sizeof(float);
    for (const LayerWeights& layer : weights_.layers) {
        bytes += norm_bytes(layer.attention_norm) + norm_bytes(layer.ffn_norm);
        for (const auto* const matrix : {&layer.query, &layer.key, &layer.value,
                                         &layer.attention_out, &layer.gate, &layer.up, &layer.down})
            bytes += stored_bytes(*matrix);
    }
    if (sparse_) bytes += sparse_->bytes_of_last_token();
    return bytes + static_cast<std::uint64_t>(position) * cache_.bytes_per_position();
}

}  // namespace assay::decode
