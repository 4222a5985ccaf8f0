#include "impls/nn/moe_gpt.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <string>

namespace assay::nn {
namespace {

// Position of each dense parameter in its block.
enum Shared : std::size_t { token_embedding, position_embedding, final_norm, shared_count };
enum PerLayer : std::size_t {
    attention_norm,
    qkv,
    attention_out,
    expert_norm,
    gate,
    per_layer_count
};

std::size_t index(int layer, PerLayer which) {
    return shared_count + static_cast<std::size_t>(layer) * per_layer_count + which;
}

at::Tensor norm(const at::Tensor& x, const at::Tensor& weight) {
    return at::layer_norm(x, {x.size(-1)}, weight);
}

// Causal self-attention written out: at these lengths a fused kernel gains nothing, and this one
// has a fixed order of operations. x: [batch, length, width]; future: [length, length], true where
// a position must not look.
at::Tensor attention(const at::Tensor& x, const at::Tensor& qkv_weight,
                     const at::Tensor& out_weight, int heads, const at::Tensor& future) {
    const auto batch = x.size(0), length = x.size(1), width = x.size(2), head = width / heads;
    const auto projected = at::matmul(x, qkv_weight.t())
                               .view({batch, length, 3, heads, head})
                               .permute({2, 0, 3, 1, 4});
    const auto query = projected[0], key = projected[1], value = projected[2];
    auto scores = at::matmul(query, key.transpose(-2, -1)) / std::sqrt(static_cast<double>(head));
    scores = scores.masked_fill(future, -INFINITY);
    const auto mixed = at::matmul(at::softmax(scores, -1), value);
    return at::matmul(mixed.transpose(1, 2).reshape({batch, length, width}), out_weight.t());
}

std::vector<std::int64_t> to_vector(const at::Tensor& indices) {
    const auto contiguous = indices.contiguous();
    const auto* data = contiguous.const_data_ptr<std::int64_t>();
    return {data, data + contiguous.numel()};
}

void record(GateTrace& trace, const at::Tensor& probabilities,
            const std::vector<std::int64_t>& choice) {
    const auto best = std::get<0>(probabilities.detach().topk(2, -1));
    const auto margin = (best.select(1, 0) - best.select(1, 1)).to(at::kDouble).contiguous();
    const auto* data = margin.const_data_ptr<double>();
    trace.choice.push_back(choice);
    trace.margin.emplace_back(data, data + margin.numel());
}

}  // namespace

std::vector<ParameterSpec> dense_parameters(const MoeGptConfig& config) {
    const std::int64_t d = config.width;
    // GPT-2's scale for everything, the residual projections reduced by the depth.
    const double scale = 0.02, residual = scale / std::sqrt(2.0 * config.layers);
    std::vector<ParameterSpec> specs{{"token_embedding", {MoeGptConfig::vocabulary, d}, scale, 0},
                                     {"position_embedding", {config.context, d}, scale, 0},
                                     {"final_norm", {d}, 0, 1}};
    for (int layer = 0; layer < config.layers; ++layer) {
        const auto prefix = "layer" + std::to_string(layer) + "/";
        specs.push_back({prefix + "attention_norm", {d}, 0, 1});
        // No biases: a key's bias has a gradient of exactly zero, whose rounding noise Adam would
        // blow up to full-size updates.
        specs.push_back({prefix + "qkv", {3 * d, d}, scale, 0});
        specs.push_back({prefix + "attention_out", {d, d}, residual, 0});
        specs.push_back({prefix + "expert_norm", {d}, 0, 1});
        specs.push_back({prefix + "gate", {config.experts, d}, scale, 0});
    }
    return specs;
}

std::vector<ParameterSpec> expert_parameters(const MoeGptConfig& config) {
    const std::int64_t d = config.width, h = config.hidden;
    const double scale = 0.02, residual = scale / std::sqrt(2.0 * config.layers);
    return {{"w1", {h, d}, scale, 0},
            {"b1", {h}, 0, 0},
            {"w2", {d, h}, residual, 0},
            {"b2", {d}, 0, 0}};
}

at::Tensor expert_forward(const ParameterBlock& expert, const at::Tensor& rows) {
    const auto hidden = at::gelu(at::matmul(rows, expert[0].t()) + expert[1]);
    return at::matmul(hidden, expert[2].t()) + expert[3];
}

at::Tensor LocalExperts::run(int layer, const at::Tensor& rows,
                             const std::vector<std::int64_t>& expert) {
    const auto& blocks = experts_[static_cast<std::size_t>(layer)];
    std::vector<std::vector<std::int64_t>> members(blocks.size());
    for (std::size_t row = 0; row < expert.size(); ++row)
        members[static_cast<std::size_t>(expert[row])].push_back(static_cast<std::int64_t>(row));
    std::vector<at::Tensor> outputs;
    std::vector<std::int64_t> place(expert.size());
    std::int64_t next = 0;
    for (std::size_t e = 0; e < blocks.size(); ++e) {
        for (auto row : members[e]) place[static_cast<std::size_t>(row)] = next++;
        outputs.push_back(
            expert_forward(*blocks[e], rows.index_select(0, at::tensor(members[e], at::kLong))));
    }
    return at::cat(outputs).index_select(0, at::tensor(place, at::kLong));
}

at::Tensor moe_gpt_loss(const MoeGptConfig& config, const ParameterBlock& dense,
                        ExpertExecutor& experts, const at::Tensor& tokens, GateTrace* trace,
                        const ForcedChoice& forced) {
    const auto batch = tokens.size(0), length = tokens.size(1) - 1,
               width = std::int64_t{config.width};
    const auto input = tokens.narrow(1, 0, length), target = tokens.narrow(1, 1, length);
    auto x = at::embedding(dense[token_embedding], input) +
             dense[position_embedding].narrow(0, 0, length);
    const auto future =
        at::ones({length, length}, at::TensorOptions().dtype(at::kBool)).triu(/*diagonal=*/1);
    for (int layer = 0; layer < config.layers; ++layer) {
        x = x + attention(norm(x, dense[index(layer, attention_norm)]), dense[index(layer, qkv)],
                          dense[index(layer, attention_out)], config.heads, future);
        const auto rows = norm(x, dense[index(layer, expert_norm)]).view({batch * length, width});
        const auto probabilities = at::softmax(at::matmul(rows, dense[index(layer, gate)].t()), -1);
        const auto chosen = forced ? at::tensor(forced(layer, batch * length), at::kLong)
                                   : probabilities.detach().argmax(-1);
        const auto choice = to_vector(chosen);
        if (trace) record(*trace, probabilities, choice);
        const auto weight = probabilities.gather(1, chosen.unsqueeze(1));
        const auto mixed = experts.run(layer, rows, choice) * weight;
        x = x + mixed.view({batch, length, width});
    }
    const auto logits = at::matmul(norm(x, dense[final_norm]), dense[token_embedding].t());
    return at::cross_entropy_loss(logits.view({batch * length, MoeGptConfig::vocabulary}),
                                  target.reshape({-1}), {}, at::Reduction::Sum);
}

}  // namespace assay::nn
