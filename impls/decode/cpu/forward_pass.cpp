#include "impls/decode/cpu/forward_pass.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "impls/decode/back_end.hpp"
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

// As what the matrices want to have their input: as digits where rows are quantised.
std::optional<ActivationType> digits_for(
    ActivationType type, const Weights& weights,
    std::initializer_list<WeightMatrix LayerWeights::*> matrices, const WeightMatrix* other = {}) {
    const auto wants = [](const WeightMatrix& matrix) {
        return kernels::is_quantised(matrix.type);
    };
    bool any = other && wants(*other);
    for (const LayerWeights& layer : weights.layers)
        for (const auto matrix : matrices) any |= wants(layer.*matrix);
    return any ? std::optional(type) : std::nullopt;
}

std::size_t floats_of(int tokens, int width) {
    return static_cast<std::size_t>(tokens) * static_cast<std::size_t>(width);
}

std::uint64_t bytes_of(const Norm& norm) {
    return (norm.weight.size() + norm.bias.size()) * sizeof(float);
}

/// Fewer tokens' norms and digits take less than a region of threads costs.
constexpr int least_tokens_to_share = 4;

}  // namespace

void CpuModel::replace_networks(std::unique_ptr<FeedForwardNetworks> with, std::string digest) {
    networks = std::move(with);
    networks_digest = std::move(digest);
    for (LayerWeights& layer : weights.layers) layer.gate = layer.up = layer.down = {};
    weights.ffn_matrices.reset();
}

std::uint64_t CpuModel::bytes_of_every_pass() const {
    std::uint64_t bytes = stored_bytes(weights.output) + bytes_of(weights.final_norm);
    for (const LayerWeights& layer : weights.layers) {
        for (const auto* const norm :
             {&layer.attention_norm, &layer.ffn_norm, &layer.query_norm, &layer.key_norm})
            bytes += bytes_of(*norm);
        for (const auto* const matrix : {&layer.query, &layer.key, &layer.value,
                                         &layer.attention_out, &layer.gate, &layer.up, &layer.down})
            bytes += stored_bytes(*matrix);
    }
    return bytes;
}

std::uint64_t CpuModel::bytes_of_embedding() const {
    const bool positions = !weights.position_embedding.empty();
    return row_bytes(weights.embedding) +
           (positions ? static_cast<std::uint64_t>(config.width) * sizeof(float) : 0);
}

std::shared_ptr<CpuModel> load_model(const nn::TensorFile& file, const ModelOptions& options) {
    auto model = std::make_shared<CpuModel>();
    model->config = nn::read_decoder_config(file);
    const auto sparsity =
        options.sparse ? nn::read_ffn_sparsity(file, model->config) : std::nullopt;
    model->weights = weights_of_file(file, model->config, options);
    if (sparsity)
        model->replace_networks(networks_of_file(file, model->config, *sparsity, options.weights),
                                nn::digest_of(*sparsity));
    return model;
}

std::shared_ptr<CpuModel> load_model(const WeightSource& source, const nn::DecoderConfig& config) {
    auto model = std::make_shared<CpuModel>();
    model->config = config;
    model->weights = weights_of(source, config);
    return model;
}

const AssayKernels* ForwardPass::kernels_of_processor() { return assay_cpu_kernels(nullptr); }

ForwardPass::ForwardPass(std::shared_ptr<CpuModel> model, const PassOptions& options)
    : model_(std::move(model)),
      config_(model_->config),
      loops_(options.loops ? *options.loops : decode::loops()),
      context_(kernels_of_processor()->create(options.threads, 0, nullptr)),
      cache_(config_, options.blocks, options.kv),
      attention_(config_),
      normalised_(config_.width,
                  digits_for(options.activations, model_->weights,
                             {&LayerWeights::query, &LayerWeights::key, &LayerWeights::value,
                              &LayerWeights::gate, &LayerWeights::up},
                             &model_->weights.output),
                  loops_),
      mixed_(config_.heads * config_.head_width,
             digits_for(options.activations, model_->weights, {&LayerWeights::attention_out}),
             loops_),
      hidden_(config_.hidden,
              digits_for(options.activations, model_->weights, {&LayerWeights::down}), loops_),
      stream_(floats_of(largest_pass, config_.width)),
      query_(floats_of(largest_pass, config_.heads * config_.head_width)),
      key_(floats_of(largest_pass, config_.kv_heads * config_.head_width)),
      value_(key_.size()),
      rotated_query_(query_.size()),
      rotated_key_(key_.size()),
      change_(stream_.size()),
      logits_(
          kernels::allocate_streamed(floats_of(largest_pass, config_.vocabulary) * sizeof(float))),
      bytes_of_every_pass_(model_->bytes_of_every_pass()) {
    if (!context_)
        throw UserError("the engine's " + std::to_string(options.threads) +
                        " threads could not be started; ask for fewer");
    if (config_.family != nn::Family::llama) return;
    const int half = config_.head_width / 2;
    for (int i = 0; i < half; ++i)
        frequencies_.push_back(std::pow(config_.rope_base, -2.0 * i / config_.head_width));
    no_change_.resize(static_cast<std::size_t>(config_.head_width));
    cosine_.resize(floats_of(largest_pass, half));
    sine_.resize(cosine_.size());
}

bool ForwardPass::fits(const CpuModel& model) const {
    nn::DecoderConfig shape = model.config;
    shape.name = config_.name;
    if (shape != config_ || (model.networks == nullptr) != (model_->networks == nullptr))
        return false;
    const auto alike = [](const WeightMatrix& a, const WeightMatrix& b) {
        return a.type == b.type;
    };
    bool all = alike(model.weights.output, model_->weights.output) &&
               alike(model.weights.embedding, model_->weights.embedding);
    for (std::size_t i = 0; i < model.weights.layers.size(); ++i)
        for (const auto matrix : {&LayerWeights::query, &LayerWeights::key, &LayerWeights::value,
                                  &LayerWeights::attention_out, &LayerWeights::gate,
                                  &LayerWeights::up, &LayerWeights::down})
            all = all && alike(model.weights.layers[i].*matrix, model_->weights.layers[i].*matrix);
    return all;
}

void ForwardPass::use(std::shared_ptr<CpuModel> model) {
    model_ = std::move(model);
    bytes_of_every_pass_ = model_->bytes_of_every_pass();
}

std::uint64_t ForwardPass::bytes_of_last_run() const {
    const auto positions = static_cast<std::uint64_t>(positions_read_);
    return bytes_of_every_pass_ + positions_.size() * model_->bytes_of_embedding() +
           (model_->networks ? model_->networks->bytes_of_last_run() : 0) +
           positions * static_cast<std::uint64_t>(cache_.bytes_per_position());
}

void ForwardPass::link(const LinkedPositions& linked) {
    const std::size_t half = frequencies_.size();
    std::vector<float> cosine(half), sine(half);
    for (std::size_t i = 0; i < half; ++i) {
        const double angle = linked.shift * frequencies_[i];
        cosine[i] = static_cast<float>(std::cos(angle));
        sine[i] = static_cast<float>(std::sin(angle));
    }
    cache_.link(linked, cosine, sine);
}

template <class Work>
void ForwardPass::each_token(int tokens, const Work& work) {
    if (tokens < least_tokens_to_share)
        for (int t = 0; t < tokens; ++t) work(t);
    else
        context_->pool.run(tokens, work);
}

void ForwardPass::run(std::span<const FedToken> tokens, std::span<const int> wanted) {
    const int count = static_cast<int>(tokens.size());
    note_positions(tokens);
    each_token(count, [&](int t) { embed(t, tokens[static_cast<std::size_t>(t)]); });
    std::fill_n(change_.data(), floats_of(count, config_.width), 0.0f);
    for (int layer = 0; layer < config_.layers; ++layer) {
        attend(layer, tokens);
        feed_forward(layer, tokens);
    }
    const int rows = static_cast<int>(wanted.size());
    if (rows == 0) return;
    normalised_.begin(rows);
    each_token(rows, [&](int r) {
        const int token = wanted[static_cast<std::size_t>(r)];
        add_and_normalise(model_->weights.final_norm, token, normalised_.row(r));
        normalised_.ready(r);
    });
    const Product product{&model_->weights.output, logits()};
    multiply(*context_, loops_, {&product, 1}, normalised_);
}

void ForwardPass::note_positions(std::span<const FedToken> tokens) {
    positions_.clear();
    positions_read_ = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        positions_.push_back(tokens[t].position);
        const bool last = t + 1 == tokens.size() || tokens[t + 1].blocks != tokens[t].blocks;
        if (last) positions_read_ += tokens[t].position + 1;
    }
}

void ForwardPass::embed(int token, const FedToken& fed) {
    const int width = config_.width;
    float* const x = row(stream_, token, width);
    const Weights& weights = model_->weights;
    read_row(weights.embedding, fed.id, {x, static_cast<std::size_t>(width)});
    if (!weights.position_embedding.empty())
        add(x, weights.position_embedding.data() + fed.position * width, width);
    const int half = static_cast<int>(frequencies_.size());
    for (int i = 0; i < half; ++i) {
        const double angle = (fed.position + fed.shift) * frequencies_[static_cast<std::size_t>(i)];
        row(cosine_, token, half)[i] = static_cast<float>(std::cos(angle));
        row(sine_, token, half)[i] = static_cast<float>(std::sin(angle));
    }
}

void ForwardPass::add_and_normalise(const Norm& norm, int token, float* out) {
    const int width = config_.width;
    float* const x = row(stream_, token, width);
    const float* const change = row(change_, token, width);
    if (norm.bias.empty())
        return loops_.add_rms_norm(x, change, norm.weight.data(), config_.norm_epsilon, width, out);
    add(x, change, width);
    layer_norm(x, norm.weight.data(), norm.bias.data(), config_.norm_epsilon, width, out);
}

void ForwardPass::add_and_normalise(const Norm& norm, int tokens) {
    normalised_.begin(tokens);
    each_token(tokens, [&](int t) {
        add_and_normalise(norm, t, normalised_.row(t));
        normalised_.ready(t);
    });
}

void ForwardPass::rotate_token(const LayerWeights& layer, int token) {
    const int width = config_.head_width;
    // Scores are divided by the root of the head's width: done once, to the query.
    const auto scale = static_cast<float>(1.0 / std::sqrt(width));
    const auto rotate = [&](float* x, const Norm& norm, int heads, float by, float* out) {
        if (!norm.weight.empty())
            for (int head = 0; head < heads; ++head)
                loops_.add_rms_norm(x + head * width, no_change_.data(), norm.weight.data(),
                                    config_.norm_epsilon, width, x + head * width);
        if (frequencies_.empty()) {
            for (int i = 0; i < heads * width; ++i) out[i] = x[i] * by;
            return;
        }
        for (int head = 0; head < heads; ++head)
            loops_.rotate(x + head * width, row(cosine_, token, width / 2),
                          row(sine_, token, width / 2), width / 2, by, out + head * width);
    };
    const int query_width = config_.heads * width, key_width = config_.kv_heads * width;
    rotate(row(query_, token, query_width), layer.query_norm, config_.heads, scale,
           row(rotated_query_, token, query_width));
    rotate(row(key_, token, key_width), layer.key_norm, config_.kv_heads, 1.0f,
           row(rotated_key_, token, key_width));
}

void ForwardPass::attend(int index, std::span<const FedToken> tokens) {
    const LayerWeights& layer = model_->weights.layers[static_cast<std::size_t>(index)];
    const int count = static_cast<int>(tokens.size());
    const int kv_width = config_.kv_heads * config_.head_width;
    add_and_normalise(layer.attention_norm, count);
    const Product products[] = {
        {&layer.query, query_.data()}, {&layer.key, key_.data()}, {&layer.value, value_.data()}};
    multiply(*context_, loops_, products, normalised_);
    each_token(count, [&](int t) {
        const FedToken& fed = tokens[static_cast<std::size_t>(t)];
        rotate_token(layer, t);
        cache_.put(loops_, index, fed.blocks[fed.position / block_positions],
                   fed.position % block_positions, row(rotated_key_, t, kv_width),
                   row(value_, t, kv_width));
    });
    attention_.run(*context_, loops_, cache_, index, tokens, rotated_query_.data());
    mixed_.begin(count);
    each_token(count, [&](int t) {
        attention_.join(t, mixed_.row(t));
        mixed_.ready(t);
    });
    const Product product{&layer.attention_out, change_.data()};
    multiply(*context_, loops_, {&product, 1}, mixed_);
}

void ForwardPass::feed_forward(int index, std::span<const FedToken> tokens) {
    const LayerWeights& layer = model_->weights.layers[static_cast<std::size_t>(index)];
    const int count = static_cast<int>(tokens.size());
    add_and_normalise(layer.ffn_norm, count);
    if (model_->networks)
        return model_->networks->run(*context_, index, positions_, normalised_, change_.data());
    activate(*context_, loops_, layer.gate, layer.up, config_.activation, normalised_,
             hidden_.row(0));
    hidden_.begin(count);
    each_token(count, [&](int t) { hidden_.ready(t); });
    const Product product{&layer.down, change_.data()};
    multiply(*context_, loops_, {&product, 1}, hidden_);
}

}  // namespace assay::decode
