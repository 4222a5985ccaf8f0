#include "impls/nn/moe/stages.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <string>

#include "impls/nn/decoder_layers.hpp"

namespace assay::nn {
namespace {

// Position of each dense parameter in its block.
enum Shared : std::size_t {
    token_embedding,
    position_embedding,                // gpt
    output_head = position_embedding,  // mixtral; gpt: the token embedding
    final_norm,
    shared_count
};
enum PerLayer : std::size_t {
    attention_norm,
    qkv,  // of all heads, one after the other: queries, keys, values
    attention_out,
    expert_norm,
    gate,
    per_layer_count
};

std::size_t index(int layer, PerLayer which) {
    return shared_count + static_cast<std::size_t>(layer) * per_layer_count + which;
}

// Mixtral's numbers.
constexpr double rotary_base = 1e6, norm_epsilon = 1e-5;

bool is_mixtral(const MoeGptConfig& config) { return config.shape == MoeShape::mixtral; }
std::int64_t kv_heads(const MoeGptConfig& config) {
    return config.kv_heads > 0 ? config.kv_heads : config.heads;
}

at::Tensor norm(const MoeGptConfig& config, const at::Tensor& x, const at::Tensor& weight) {
    return is_mixtral(config) ? at::rms_norm(x, {x.size(-1)}, weight, norm_epsilon)
                              : at::layer_norm(x, {x.size(-1)}, weight);
}

// What a position must not look at: true, [length, length].
at::Tensor future(std::int64_t length, at::Device device) {
    return at::ones({length, length}, at::TensorOptions().dtype(at::kBool).device(device))
        .triu(/*diagonal=*/1);
}

// Values by what queries and keys make of them; all [batch, heads, length, head].
at::Tensor mix(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
               Attention kind) {
    const auto length = query.size(2), head = query.size(3);
    const double root = std::sqrt(static_cast<double>(head));
    if (kind == Attention::fused)
        return at::scaled_dot_product_attention(query, key, value, {}, 0.0, /*is_causal=*/true);
    const auto hidden = future(length, query.device());
    if (kind == Attention::materialised) {
        const auto flat = [&](const at::Tensor& t) { return t.reshape({-1, length, head}); };
        const auto mask =
            at::zeros({length, length}, query.options()).masked_fill_(hidden, -INFINITY);
        const auto scores = at::baddbmm(mask, flat(query), flat(key).transpose(1, 2), 1, 1 / root);
        return at::bmm(at::softmax(scores, -1), flat(value)).view(query.sizes());
    }
    const auto scores = at::matmul(query, key.transpose(-2, -1)) / root;
    return at::matmul(at::softmax(scores.masked_fill(hidden, -INFINITY), -1), value);
}

// Causal self-attention. x: [batch, length, width].
at::Tensor attention(const at::Tensor& x, const at::Tensor& qkv_weight,
                     const at::Tensor& out_weight, int heads, Attention kind) {
    const auto batch = x.size(0), length = x.size(1), width = x.size(2), head = width / heads;
    const auto projected = at::matmul(x, qkv_weight.t())
                               .view({batch, length, 3, heads, head})
                               .permute({2, 0, 3, 1, 4});
    const auto mixed = mix(projected[0], projected[1], projected[2], kind);
    return at::matmul(mixed.transpose(1, 2).reshape({batch, length, width}), out_weight.t());
}

// Rotary positions, queries that share keys and values. Written out it is the decoder's.
at::Tensor grouped_attention(const MoeGptConfig& config, const at::Tensor& x,
                             const at::Tensor& qkv_weight, const at::Tensor& out_weight,
                             Attention kind) {
    const auto batch = x.size(0), length = x.size(1), head = x.size(2) / config.heads;
    const auto shared = kv_heads(config);
    const auto parts = at::linear(x, qkv_weight)
                           .view({batch, length, config.heads + 2 * shared, head})
                           .split_with_sizes({config.heads, shared, shared}, 2);
    const auto table = rotary_table(length, head, rotary_base, x.options());
    const auto query = rotate(parts[0], table), key = rotate(parts[1], table);
    const auto of_all_heads = [&](const at::Tensor& t) {
        return t.transpose(1, 2).repeat_interleave(config.heads / shared, 1);
    };
    const auto mixed =
        kind == Attention::written_out
            ? causal_attention(query, key, parts[2])
            : mix(query.transpose(1, 2), of_all_heads(key), of_all_heads(parts[2]), kind)
                  .transpose(1, 2);
    return at::linear(mixed.reshape({batch, length, config.heads * head}), out_weight);
}

at::Tensor capacity_mask(const MoeGptConfig& config, const at::Tensor& chosen,
                         std::int64_t length) {
    const auto capacity = capacity_of(config);
    return capacity > 0 ? with_room(chosen, length, config.experts, capacity) : at::Tensor();
}

}  // namespace

std::int64_t capacity_of(const MoeGptConfig& config) {
    return static_cast<std::int64_t>(
        std::ceil(config.capacity_factor * config.top_k * config.context / config.experts));
}

at::Tensor with_room(const at::Tensor& chosen, std::int64_t length, int experts,
                     std::int64_t capacity) {
    const auto flat = chosen.to(at::kCPU).contiguous();
    const auto k = flat.size(1), sequences = flat.size(0) / length;
    const auto* const expert = flat.const_data_ptr<std::int64_t>();
    auto kept = at::empty_like(flat, at::kBool);
    auto* const has_room = kept.data_ptr<bool>();
    for (std::int64_t sequence = 0; sequence < sequences; ++sequence) {
        std::vector<std::int64_t> taken(static_cast<std::size_t>(experts), 0);
        for (std::int64_t choice = 0; choice < k; ++choice)
            for (std::int64_t token = 0; token < length; ++token) {
                const auto i = (sequence * length + token) * k + choice;
                has_room[i] = taken[static_cast<std::size_t>(expert[i])]++ < capacity;
            }
    }
    return kept.to(chosen.device());
}

std::vector<ParameterSpec> dense_parameters(const MoeGptConfig& config) {
    const std::int64_t d = config.width;
    // GPT-2's scale for everything, the residual projections reduced by the depth.
    const double scale = 0.02, residual = scale / std::sqrt(2.0 * config.layers);
    const std::int64_t head = d / config.heads;
    std::vector<ParameterSpec> specs{{"token_embedding", {MoeGptConfig::vocabulary, d}, scale, 0}};
    if (is_mixtral(config))
        specs.push_back({"output_head", {MoeGptConfig::vocabulary, d}, scale, 0});
    else
        specs.push_back({"position_embedding", {config.context, d}, scale, 0});
    specs.push_back({"final_norm", {d}, 0, 1});
    const std::int64_t qkv_rows =
        is_mixtral(config) ? (config.heads + 2 * kv_heads(config)) * head : 3 * d;
    for (int layer = 0; layer < config.layers; ++layer) {
        const auto prefix = "layer" + std::to_string(layer) + "/";
        specs.push_back({prefix + "attention_norm", {d}, 0, 1});
        // No biases: a key's bias has a gradient of exactly zero, whose rounding noise Adam would
        // blow up to full-size updates.
        specs.push_back({prefix + "qkv", {qkv_rows, d}, scale, 0});
        specs.push_back({prefix + "attention_out", {d, d}, residual, 0});
        specs.push_back({prefix + "expert_norm", {d}, 0, 1});
        specs.push_back({prefix + "gate", {config.experts, d}, scale, 0});
    }
    return specs;
}

std::vector<ParameterSpec> expert_parameters(const MoeGptConfig& config) {
    const std::int64_t d = config.width, h = config.hidden;
    const double scale = 0.02, residual = scale / std::sqrt(2.0 * config.layers);
    if (is_mixtral(config))
        return {
            {"gate", {h, d}, scale, 0}, {"up", {h, d}, scale, 0}, {"down", {d, h}, residual, 0}};
    return {{"w1", {h, d}, scale, 0},
            {"b1", {h}, 0, 0},
            {"w2", {d, h}, residual, 0},
            {"b2", {d}, 0, 0}};
}

at::Tensor moe_embed(const MoeGptConfig& config, const ParameterBlock& dense,
                     const at::Tensor& tokens) {
    const auto length = tokens.size(1) - 1;
    const auto embedded = at::embedding(dense[token_embedding], tokens.narrow(1, 0, length));
    if (is_mixtral(config)) return embedded;
    return embedded + dense[position_embedding].narrow(0, 0, length);
}

Routed moe_attend(const MoeGptConfig& config, const ParameterBlock& dense, int layer,
                  const at::Tensor& x, const at::Tensor& chosen, Attention kind) {
    const auto batch = x.size(0), length = x.size(1), width = x.size(2);
    const auto normed = norm(config, x, dense[index(layer, attention_norm)]);
    const auto &in = dense[index(layer, qkv)], &out = dense[index(layer, attention_out)];
    Routed routed;
    routed.residual = x + (is_mixtral(config) ? grouped_attention(config, normed, in, out, kind)
                                              : attention(normed, in, out, config.heads, kind));
    routed.rows = norm(config, routed.residual, dense[index(layer, expert_norm)])
                      .view({batch * length, width});
    routed.probabilities = at::softmax(at::matmul(routed.rows, dense[index(layer, gate)].t()), -1);
    if (chosen.defined())
        routed.chosen = chosen;
    else if (config.top_k == 1)
        routed.chosen = routed.probabilities.detach().argmax(-1, /*keepdim=*/true);
    else
        routed.chosen = std::get<1>(routed.probabilities.detach().topk(config.top_k, -1));
    routed.weights = routed.probabilities.gather(1, routed.chosen);
    // One alone keeps its probability: divided by itself it would teach the gate nothing.
    if (config.top_k > 1) routed.weights = routed.weights / routed.weights.sum(-1, true);
    routed.kept = capacity_mask(config, routed.chosen, length);
    if (routed.kept.defined()) routed.weights = routed.weights * routed.kept;
    return routed;
}

at::Tensor moe_expert_rows(const MoeGptConfig& config, const Routed& routed) {
    return config.top_k == 1 ? routed.rows : routed.rows.repeat_interleave(config.top_k, 0);
}

at::Tensor expert_forward(const ParameterBlock& expert, const at::Tensor& rows, MoeShape shape) {
    if (shape == MoeShape::mixtral) {
        const FfnWeights weights{
            .gate = expert[0], .up = expert[1], .down = expert[2], .up_bias = {}, .down_bias = {}};
        return ffn_output(weights, ffn_hidden(weights, rows));
    }
    const auto hidden = at::gelu(at::matmul(rows, expert[0].t()) + expert[1]);
    return at::matmul(hidden, expert[2].t()) + expert[3];
}

at::Tensor moe_combine(const MoeGptConfig& config, const at::Tensor& residual,
                       const at::Tensor& weights, const at::Tensor& outputs) {
    auto mixed = outputs * weights.reshape({-1, 1});
    if (config.top_k > 1) mixed = mixed.view({-1, config.top_k, residual.size(2)}).sum(1);
    return residual + mixed.view(residual.sizes());
}

at::Tensor moe_head(const MoeGptConfig& config, const ParameterBlock& dense, const at::Tensor& x,
                    const at::Tensor& tokens) {
    const auto& words = dense[is_mixtral(config) ? output_head : token_embedding];
    const auto logits = at::matmul(norm(config, x, dense[final_norm]), words.t());
    return at::cross_entropy_loss(logits.view({x.size(0) * x.size(1), MoeGptConfig::vocabulary}),
                                  tokens.narrow(1, 1, tokens.size(1) - 1).reshape({-1}), {},
                                  at::Reduction::Sum);
}

}  // namespace assay::nn
