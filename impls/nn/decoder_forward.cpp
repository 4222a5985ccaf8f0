#include <ATen/ATen.h>

#include "impls/nn/attention.hpp"
#include "impls/nn/decoder.hpp"
#include "suite/experiment/error.hpp"

namespace assay::nn {
namespace {

// One parameter in the type of the matrix products; an absent one stays absent.
at::Tensor in_type(const at::Tensor* leaf, at::ScalarType type) {
    return leaf ? leaf->to(type) : at::Tensor();
}

at::Tensor in_type(const at::Tensor& leaf, at::ScalarType type) {
    return leaf.defined() ? leaf.to(type) : leaf;
}

}  // namespace

at::Tensor Decoder::hidden_states(const at::Tensor& ids, FeedForward& feed_forward,
                                  at::ScalarType compute) const {
    const auto batch = ids.size(0), length = ids.size(1);
    if (length > config_.context) {
        throw UserError("a sequence of " + std::to_string(length) +
                        " tokens is longer than the model's context of " +
                        std::to_string(config_.context) + "; give shorter sequences");
    }
    const bool gpt2 = config_.family == Family::gpt2;
    // The residual stream, norms, softmax and loss.
    const auto wide = compute == at::kDouble ? at::kDouble : at::kFloat;
    const auto norm = [&](int layer, const std::string& name, const at::Tensor& x) {
        const auto weight = in_type(find(layer, name), wide);
        return gpt2 ? at::layer_norm(x, {x.size(-1)}, weight,
                                     in_type(find(layer, name + "_bias"), wide),
                                     config_.norm_epsilon)
                    : at::rms_norm(x, {x.size(-1)}, weight, config_.norm_epsilon);
    };

    auto x = at::embedding(in_type(find(-1, "token_embedding"), wide), ids.reshape({-1}));
    RotaryTable rotary;
    if (gpt2) {
        const auto position = in_type(find(-1, "position_embedding"), wide).narrow(0, 0, length);
        x = (x.view({batch, length, -1}) + position).view({batch * length, -1});
    } else {
        rotary =
            rotary_table(length, config_.head_width, config_.rope_base, x.options().dtype(wide));
    }
    for (int layer = 0; layer < config_.layers; ++layer) {
        const auto linear = [&](const at::Tensor& rows, const std::string& name) {
            return at::linear(rows, in_type(find(layer, name), compute),
                              in_type(find(layer, name + "_bias"), compute));
        };
        const auto heads = [&](const at::Tensor& rows, const std::string& name, int count) {
            return linear(rows, name).view({batch, length, count, config_.head_width});
        };
        const auto seen = norm(layer, "attention_norm", x).to(compute);
        // Attention itself stays wide: on the CPU, bfloat16 makes it slower (its many small
        // products cost more to set up than to compute).
        auto query = heads(seen, "query", config_.heads).to(wide);
        auto key = heads(seen, "key", config_.kv_heads).to(wide);
        const auto value = heads(seen, "value", config_.kv_heads).to(wide);
        if (!gpt2) {
            query = rotate(query, rotary);
            key = rotate(key, rotary);
        }
        x = x + linear(causal_attention(query, key, value).to(compute), "attention_out").to(wide);

        const auto leaves = ffn(layer);
        const FfnWeights weights{
            in_type(leaves.gate, compute),      in_type(leaves.up, compute),
            in_type(leaves.down, compute),      in_type(leaves.up_bias, compute),
            in_type(leaves.down_bias, compute), leaves.activation};
        x = x + feed_forward.run(layer, norm(layer, "ffn_norm", x).to(compute), weights).to(wide);
    }
    return norm(-1, "final_norm", x).to(compute);
}

at::Tensor Decoder::logits(const at::Tensor& ids, FeedForward& feed_forward,
                           at::ScalarType compute) const {
    const auto x = hidden_states(ids, feed_forward, compute);
    const auto output =
        in_type(find(-1, config_.tied_embeddings ? "token_embedding" : "output"), compute);
    return at::linear(x, output)
        .to(compute == at::kDouble ? at::kDouble : at::kFloat)
        .view({ids.size(0), ids.size(1), config_.vocabulary});
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
