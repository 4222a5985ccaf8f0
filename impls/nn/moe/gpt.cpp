#include "impls/nn/moe/gpt.hpp"

#include <ATen/ATen.h>

#include <string>

#include "impls/nn/moe/stages.hpp"

namespace assay::nn {
namespace {

std::vector<std::int64_t> to_vector(const at::Tensor& indices) {
    const auto contiguous = indices.contiguous();
    const auto* data = contiguous.const_data_ptr<std::int64_t>();
    return {data, data + contiguous.numel()};
}

// The margin: between the last expert chosen and the first that is not.
void record(GateTrace& trace, const Routed& routed, const std::vector<std::int64_t>& choice) {
    const auto chosen = routed.chosen.size(1);
    const auto best = std::get<0>(routed.probabilities.detach().topk(chosen + 1, -1));
    const auto margin =
        (best.select(1, chosen - 1) - best.select(1, chosen)).to(at::kDouble).contiguous();
    const auto* data = margin.const_data_ptr<double>();
    trace.choice.push_back(choice);
    trace.margin.emplace_back(data, data + margin.numel());
}

}  // namespace

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
        outputs.push_back(expert_forward(
            *blocks[e], rows.index_select(0, at::tensor(members[e], at::kLong)), shape_));
    }
    return at::cat(outputs).index_select(0, at::tensor(place, at::kLong));
}

at::Tensor moe_gpt_loss(const MoeGptConfig& config, const ParameterBlock& dense,
                        ExpertExecutor& experts, const at::Tensor& tokens, GateTrace* trace,
                        const ForcedChoice& forced) {
    const auto rows = tokens.size(0) * (tokens.size(1) - 1);
    auto x = moe_embed(config, dense, tokens);
    for (int layer = 0; layer < config.layers; ++layer) {
        at::Tensor chosen;
        if (forced) chosen = at::tensor(forced(layer, rows), at::kLong).view({rows, config.top_k});
        const auto routed = moe_attend(config, dense, layer, x, chosen);
        const auto choice = to_vector(routed.chosen);
        if (trace) record(*trace, routed, choice);
        x = moe_combine(config, routed.residual, routed.weights,
                        experts.run(layer, moe_expert_rows(config, routed), choice));
    }
    return moe_head(config, dense, x, tokens);
}

}  // namespace assay::nn
