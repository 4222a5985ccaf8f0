#include "impls/nn/decoder_layers.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>

namespace assay::nn {

RotaryTable rotary_table(std::int64_t length, std::int64_t head_width, double base,
                         const at::TensorOptions& options) {
    const auto in_double = options.dtype(at::kDouble);
    const auto exponents = at::arange(0, head_width, 2, in_double) / -head_width;
    const auto angles = at::outer(at::arange(length, in_double), at::pow(base, exponents));
    return {angles.cos().to(options), angles.sin().to(options)};
}

at::Tensor rotate(const at::Tensor& x, const RotaryTable& table) {
    const auto half = x.size(-1) / 2;
    const auto parts = x.to(table.cosine.scalar_type()).split(half, -1);
    const auto cosine = table.cosine.unsqueeze(1), sine = table.sine.unsqueeze(1);
    return at::cat({parts[0] * cosine - parts[1] * sine, parts[1] * cosine + parts[0] * sine}, -1);
}

at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value) {
    const auto q = query.transpose(1, 2), k = key.transpose(1, 2), v = value.transpose(1, 2);
    const bool grouped = query.size(2) != key.size(2);
    at::Tensor mixed;
    if (query.is_cpu()) {
        mixed = at::scaled_dot_product_attention(q, k, v, {}, 0.0, /*is_causal=*/true, {}, grouped);
    } else {
        // The fused kernels of other devices add up in no fixed order when going backward.
        mixed = std::get<0>(at::_scaled_dot_product_attention_math(
            q, k, v, {}, 0.0, /*is_causal=*/true, {}, {}, grouped));
    }
    return mixed.transpose(1, 2).reshape(
        {query.size(0) * query.size(1), query.size(2) * query.size(3)});
}

KeyValueCache::KeyValueCache(const DecoderConfig& config, std::int64_t capacity)
    : capacity_(capacity),
      keys_(static_cast<std::size_t>(config.layers)),
      values_(static_cast<std::size_t>(config.layers)) {}

void KeyValueCache::repeat(std::int64_t times) {
    for (auto* const parts : {&keys_, &values_})
        for (at::Tensor& part : *parts)
            if (part.defined()) part = part.repeat_interleave(times, 0);
}

at::Tensor KeyValueCache::attend(int layer, const at::Tensor& query, const at::Tensor& key,
                                 const at::Tensor& value) {
    const auto batch = key.size(0), fresh = key.size(1);
    if (tokens_ + fresh > capacity_) throw std::invalid_argument("the cache is full");
    if (tokens_ > 0 && fresh != 1) throw std::invalid_argument("one token at a time");
    const auto with = [&](at::Tensor& kept, const at::Tensor& part) {
        if (!kept.defined())
            kept = at::zeros({batch, capacity_, part.size(2), part.size(3)}, part.options());
        kept.narrow(1, tokens_, fresh).copy_(part);
        return kept.narrow(1, 0, tokens_ + fresh);
    };
    const auto keys = with(keys_[static_cast<std::size_t>(layer)], key);
    const auto values = with(values_[static_cast<std::size_t>(layer)], value);
    if (tokens_ == 0) return causal_attention(query, key, value);
    // One query a head: products this small cost more to set up than to compute element by element.
    const auto shared = query.size(2) / key.size(2);
    const auto of_heads = [&](const at::Tensor& part) {
        return shared == 1 ? part : part.repeat_interleave(shared, 2);
    };
    const auto scores = (query * of_heads(keys)).sum(-1, /*keepdim=*/true) /
                        std::sqrt(static_cast<double>(query.size(-1)));
    return (at::softmax(scores, 1) * of_heads(values)).sum(1).view({batch, -1});
}

namespace {

at::Tensor in_type_of(const at::Tensor& x, const at::Tensor& leaf) {
    return leaf.defined() ? leaf.to(x.scalar_type()) : leaf;
}

at::Tensor hidden_of(Maps& maps, int layer, const FfnWeights& weights, const at::Tensor& x) {
    const auto up = maps.linear({layer, "up"}, x, weights.up, weights.up_bias);
    switch (weights.activation) {
        case Activation::swiglu:
            return at::silu(maps.linear({layer, "gate"}, x, weights.gate, {})) * up;
        case Activation::gelu:
            return at::gelu(up, "tanh");
        case Activation::relu:
            return at::relu(up);
    }
    throw std::logic_error("unknown activation");
}

at::Tensor output_of(Maps& maps, int layer, const FfnWeights& weights, const at::Tensor& hidden) {
    return maps.linear({layer, "down"}, hidden, weights.down, weights.down_bias);
}

constexpr int no_layer = -1;  // of plain maps, which do not ask

}  // namespace

at::Tensor Maps::linear(const Place&, const at::Tensor& x, const at::Tensor& weight,
                        const at::Tensor& bias) {
    return at::linear(x, in_type_of(x, weight), in_type_of(x, bias));
}

at::Tensor Maps::norm(const Place&, const at::Tensor& x, const NormWeights& weights) {
    const auto gain = in_type_of(x, weights.gain);
    if (!weights.centred) return at::rms_norm(x, {x.size(-1)}, gain, weights.epsilon);
    return at::layer_norm(x, {x.size(-1)}, gain, in_type_of(x, weights.shift), weights.epsilon);
}

at::Tensor Maps::embed(const Place&, const at::Tensor& table, const at::Tensor& ids,
                       at::ScalarType type) {
    return at::embedding(table.to(type), ids);
}

at::Tensor Maps::add_positions(const Place&, const at::Tensor& x, const at::Tensor& table) {
    return x + in_type_of(x, table).narrow(0, 0, x.size(1));
}

at::Tensor ffn_hidden(const FfnWeights& weights, const at::Tensor& x) {
    Maps plain;
    return hidden_of(plain, no_layer, weights, x);
}

at::Tensor ffn_output(const FfnWeights& weights, const at::Tensor& hidden) {
    Maps plain;
    return output_of(plain, no_layer, weights, hidden);
}

at::Tensor ffn_through(Maps& maps, int layer, const FfnWeights& leaves, const at::Tensor& x) {
    return output_of(maps, layer, leaves, hidden_of(maps, layer, leaves, x));
}

at::Tensor DenseFeedForward::run(int, const at::Tensor& x, const FfnWeights& weights) {
    return ffn_output(weights, ffn_hidden(weights, x));
}

}  // namespace assay::nn
