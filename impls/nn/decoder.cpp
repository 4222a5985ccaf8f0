#include "impls/nn/decoder.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "impls/nn/files/ffn_sparsity.hpp"
#include "impls/nn/files/parameter_source.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

constexpr double initial_scale = 0.02;  // GPT-2's

ParameterSpec fresh(const NamedShape& parameter, int layers) {
    const std::string_view name = parameter.name;
    if (name.ends_with("bias")) return {parameter.name, parameter.shape, 0, 0};
    if (name.ends_with("norm")) return {parameter.name, parameter.shape, 0, 1};
    // What is added to the residual stream 2·layers times is scaled down by the depth, as in GPT-2.
    const bool residual = name == "attention_out" || name == "down";
    return {parameter.name, parameter.shape,
            residual ? initial_scale / std::sqrt(2.0 * layers) : initial_scale, 0};
}

/// "shared" (everything outside the layers), then "layer0" …. Without a seed the matrices are zero,
/// to be filled from a file.
std::vector<std::unique_ptr<ParameterBlock>> decoder_blocks(const DecoderConfig& config,
                                                            std::optional<std::uint64_t> seed,
                                                            at::Device device,
                                                            at::ScalarType stored = at::kFloat,
                                                            Draw draw = Draw::by_name) {
    std::vector<std::unique_ptr<ParameterBlock>> blocks;
    const auto add = [&](const std::string& name, const std::vector<NamedShape>& parameters) {
        std::vector<ParameterSpec> specs;
        for (const auto& parameter : parameters) {
            specs.push_back(fresh(parameter, config.layers));
            if (!seed) specs.back().stddev = 0;
        }
        blocks.push_back(
            std::make_unique<ParameterBlock>(name, specs, stored, seed.value_or(0), device, draw));
    };
    add("shared", shared_parameters(config));
    for (int layer = 0; layer < config.layers; ++layer)
        add("layer" + std::to_string(layer), layer_parameters(config));
    return blocks;
}

// One parameter in the type of the matrix products; an absent one stays absent.
at::Tensor in_type(const at::Tensor& leaf, at::ScalarType type) {
    return leaf.defined() ? leaf.to(type) : leaf;
}

}  // namespace

Decoder::Decoder(const DecoderConfig& config, std::uint64_t seed, at::Device device,
                 at::ScalarType stored, Draw draw)
    : config_(config),
      shared_(shared_parameters(config)),
      per_layer_(layer_parameters(config)),
      blocks_(decoder_blocks(config, seed, device, stored, draw)) {}

const at::Tensor* Decoder::find(int layer, std::string_view name) const {
    const auto& names = layer < 0 ? shared_ : per_layer_;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i].name == name) return &(*blocks_[static_cast<std::size_t>(layer + 1)])[i];
    return nullptr;
}

const at::Tensor& Decoder::parameter(std::string_view name) const {
    int layer = -1;
    auto rest = name;
    if (name.starts_with("layer")) {
        const auto* end = name.data() + name.size();
        const auto number = std::from_chars(name.data() + 5, end, layer);
        if (number.ec != std::errc{} || number.ptr == end || *number.ptr != '/' || layer < 0 ||
            layer >= config_.layers)
            throw std::out_of_range("no parameter " + std::string(name));
        rest = {number.ptr + 1, static_cast<std::size_t>(end - number.ptr - 1)};
    }
    const auto* found = find(layer, rest);
    if (!found) throw std::out_of_range("no parameter " + std::string(name));
    return *found;
}

FfnWeights Decoder::ffn(int layer) const {
    const auto get = [&](std::string_view name) {
        const auto* found = find(layer, name);
        return found ? *found : at::Tensor();
    };
    return {get("gate"),    get("up"),        get("down"),
            get("up_bias"), get("down_bias"), config_.activation};
}

Decoder Decoder::load(const TensorFile& file, at::Device device) {
    Decoder decoder;
    decoder.config_ = read_decoder_config(file);
    if (const auto sparsity = read_ffn_sparsity(file, decoder.config_))
        throw UserError(file.path().string() + ": its feed-forward networks leave out neurons (" +
                        std::string(method_of(*sparsity)) +
                        "), which only the decoding engine knows how to do");
    decoder.shared_ = shared_parameters(decoder.config_);
    decoder.per_layer_ = layer_parameters(decoder.config_);
    decoder.blocks_ = decoder_blocks(decoder.config_, {}, device);
    const auto read = [&](int layer, const std::vector<NamedShape>& parameters) {
        const auto prefix = layer < 0 ? "" : "layer" + std::to_string(layer) + "/";
        for (const auto& parameter : parameters) {
            const auto floats = at::empty(parameter.shape, at::TensorOptions().dtype(at::kFloat));
            read_parameter(
                file, decoder.config_, prefix + parameter.name,
                {floats.mutable_data_ptr<float>(), static_cast<std::size_t>(floats.numel())});
            decoder.find(layer, parameter.name)->detach().copy_(floats);
        }
    };
    read(-1, decoder.shared_);
    for (int layer = 0; layer < decoder.config_.layers; ++layer) read(layer, decoder.per_layer_);
    return decoder;
}

at::Tensor Decoder::hidden_states(const at::Tensor& ids, FeedForward* feed_forward, Maps& maps,
                                  at::ScalarType compute, KeyValueCache* cache) const {
    const auto batch = ids.size(0), length = ids.size(1);
    const auto before = cache ? cache->tokens() : 0, end = before + length;
    if (end > config_.context) {
        throw UserError("a sequence of " + std::to_string(end) +
                        " tokens is longer than the model's context of " +
                        std::to_string(config_.context) + "; give shorter sequences");
    }
    const bool gpt2 = config_.family == Family::gpt2;
    // The residual stream, norms, softmax and loss.
    const auto wide = compute == at::kDouble ? at::kDouble : at::kFloat;
    const auto leaf = [&](int layer, const std::string& name) {
        const auto* found = find(layer, name);
        return found ? *found : at::Tensor();
    };
    const auto norm = [&](int layer, const std::string& name, const at::Tensor& x) {
        return maps.norm(
            {layer, name}, x,
            {leaf(layer, name), leaf(layer, name + "_bias"), config_.norm_epsilon, gpt2});
    };

    auto x =
        maps.embed({-1, "token_embedding"}, leaf(-1, "token_embedding"), ids.reshape({-1}), wide);
    RotaryTable rotary;
    if (gpt2) {
        auto positions = leaf(-1, "position_embedding");
        if (cache) positions = positions.narrow(0, before, length);
        x = maps.add_positions({-1, "position_embedding"}, x.view({batch, length, -1}), positions)
                .view({batch * length, -1});
    } else {
        rotary = rotary_table(end, config_.head_width, config_.rope_base, x.options().dtype(wide));
        rotary = {rotary.cosine.narrow(0, before, length), rotary.sine.narrow(0, before, length)};
    }
    for (int layer = 0; layer < config_.layers; ++layer) {
        const auto linear = [&](const at::Tensor& rows, const std::string& name) {
            return maps.linear({layer, name}, rows, leaf(layer, name), leaf(layer, name + "_bias"));
        };
        const auto heads = [&](const at::Tensor& rows, const std::string& name, int count) {
            const auto all = linear(rows, name).to(wide);
            if (!find(layer, name + "_norm"))
                return all.view({batch, length, count, config_.head_width});
            return norm(layer, name + "_norm", all.view({-1, config_.head_width}))
                .view({batch, length, count, config_.head_width});
        };
        const auto seen = norm(layer, "attention_norm", x).to(compute);
        // Attention itself stays wide: on the CPU, bfloat16 makes it slower (its many small
        // products cost more to set up than to compute).
        auto query = heads(seen, "query", config_.heads);
        auto key = heads(seen, "key", config_.kv_heads);
        const auto value = heads(seen, "value", config_.kv_heads);
        if (!gpt2) {
            query = rotate(query, rotary);
            key = rotate(key, rotary);
        }
        const auto mixed =
            cache ? cache->attend(layer, query, key, value) : causal_attention(query, key, value);
        x = x + linear(mixed.to(compute), "attention_out").to(wide);

        const auto ffn_seen = norm(layer, "ffn_norm", x).to(compute);
        const auto leaves = ffn(layer);
        if (!feed_forward) {
            x = x + ffn_through(maps, layer, leaves, ffn_seen).to(wide);
            continue;
        }
        const FfnWeights weights{
            in_type(leaves.gate, compute),      in_type(leaves.up, compute),
            in_type(leaves.down, compute),      in_type(leaves.up_bias, compute),
            in_type(leaves.down_bias, compute), leaves.activation};
        x = x + feed_forward->run(layer, ffn_seen, weights).to(wide);
    }
    if (cache) cache->advance(length);
    return norm(-1, "final_norm", x).to(compute);
}

at::Tensor Decoder::hidden_states(const at::Tensor& ids, Maps& maps, at::ScalarType compute) const {
    return hidden_states(ids, nullptr, maps, compute, nullptr);
}

at::Tensor Decoder::head(const at::Tensor& hidden, Maps& maps) const {
    const auto& output = *find(-1, config_.tied_embeddings ? "token_embedding" : "output");
    const bool in_double = hidden.scalar_type() == at::kDouble;
    return maps.linear({-1, "output"}, hidden, output, {}).to(in_double ? at::kDouble : at::kFloat);
}

at::Tensor Decoder::next_logits(const at::Tensor& ids, KeyValueCache& cache) const {
    at::NoGradGuard no_grad;
    Maps plain;
    const auto x = hidden_states(ids, nullptr, plain, at::kFloat, &cache);
    return head(x.view({ids.size(0), ids.size(1), -1}).select(1, ids.size(1) - 1), plain);
}

at::Tensor Decoder::logits(const at::Tensor& ids, FeedForward* feed_forward, Maps& maps,
                           at::ScalarType compute) const {
    return head(hidden_states(ids, feed_forward, maps, compute, nullptr), maps)
        .view({ids.size(0), ids.size(1), config_.vocabulary});
}

at::Tensor Decoder::logits(const at::Tensor& ids, FeedForward& feed_forward,
                           at::ScalarType compute) const {
    Maps plain;
    return logits(ids, &feed_forward, plain, compute);
}

at::Tensor Decoder::logits(const at::Tensor& ids, Maps& maps, at::ScalarType compute) const {
    return logits(ids, nullptr, maps, compute);
}

at::Tensor Decoder::token_losses(const at::Tensor& tokens, Maps& maps, const at::Tensor& targets,
                                 at::ScalarType compute) const {
    const auto scores = logits(tokens.narrow(1, 0, tokens.size(1) - 1), maps, compute);
    return at::cross_entropy_loss(scores.view({-1, config_.vocabulary}), targets.reshape({-1}), {},
                                  at::Reduction::None, /*ignore_index=*/-1)
        .view(targets.sizes());
}

at::Tensor Decoder::loss(const at::Tensor& tokens, FeedForward& feed_forward,
                         at::ScalarType compute, const at::Tensor& targets) const {
    const auto length = tokens.size(1) - 1;
    const auto goal = targets.defined() ? targets : tokens.narrow(1, 1, length);
    const auto scores = logits(tokens.narrow(1, 0, length), feed_forward, compute);
    return at::cross_entropy_loss(scores.view({-1, config_.vocabulary}), goal.reshape({-1}), {},
                                  at::Reduction::Sum, /*ignore_index=*/-1);
}

}  // namespace assay::nn
