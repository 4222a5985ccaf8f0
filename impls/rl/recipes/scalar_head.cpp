#include "impls/rl/recipes/scalar_head.hpp"

#include <ATen/ATen.h>

#include <vector>

namespace assay::rl {
namespace {

nn::ParameterBlock zeros_for(std::int64_t width) {
    const std::vector<nn::ParameterSpec> specs{{"weight", {width}, 0, 0}, {"bias", {1}, 0, 0}};
    return {"scalar_head", specs, at::kFloat, 0};
}

at::Tensor number_of(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias) {
    const auto type = hidden.scalar_type();
    return at::matmul(hidden, weight.to(type)) + bias.to(type);
}

}  // namespace

ScalarHead::ScalarHead(std::int64_t width) : block_(zeros_for(width)) {}

at::Tensor ScalarHead::operator()(const at::Tensor& hidden) const {
    return number_of(hidden, block_[0], block_[1]);
}

at::Tensor ScalarHead::held(const at::Tensor& hidden) const {
    return number_of(hidden, block_[0].detach(), block_[1].detach());
}

Evaluation evaluate(const nn::Decoder& policy, const at::Tensor& tokens, nn::Maps& maps,
                    at::ScalarType compute) {
    const auto rows = tokens.size(0), length = tokens.size(1) - 1;
    const auto hidden = policy.hidden_states(tokens.narrow(1, 0, length), maps, compute);
    const auto scores = policy.head(hidden, maps).view({rows, length, -1});
    return {at::log_softmax(scores, -1)
                .gather(-1, tokens.narrow(1, 1, length).unsqueeze(-1))
                .squeeze(-1),
            hidden.view({rows, length, -1})};
}

}  // namespace assay::rl
