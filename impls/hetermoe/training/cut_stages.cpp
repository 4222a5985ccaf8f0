#include "impls/hetermoe/training/cut_stages.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <utility>

namespace assay::hetermoe {
namespace {

at::Tensor leaf(const at::Tensor& tensor) { return tensor.detach().requires_grad_(true); }

}  // namespace

// A stage from what is kept below it: the graph begins here.
CutStages::Entered CutStages::enter(int layer) {
    Entered entered;
    if (layer == 1) {
        entered.x = nn::moe_embed(model_, dense_, tokens_);
        return entered;
    }
    const Boundary& boundary = below(layer);
    entered.residual = leaf(boundary.residual);
    entered.weights = leaf(boundary.weights);
    entered.outputs = leaf(boundary.outputs);
    entered.x = nn::moe_combine(model_, entered.residual, entered.weights, entered.outputs);
    return entered;
}

CutStages::ForExperts CutStages::forward(int layer, const at::Tensor& outputs) {
    const at::NoGradGuard no_grad;
    if (layer > 1) below(layer).outputs = outputs;
    at::Tensor chosen;
    if (const auto rows = tokens_.size(0) * (tokens_.size(1) - 1); choice_)
        chosen = at::tensor(choice_(layer - 1, rows), at::kLong)
                     .to(tokens_.device())
                     .view({rows, model_.top_k});
    const auto routed =
        nn::moe_attend(model_, dense_, layer - 1, enter(layer).x, chosen, attention_);
    boundaries_.push_back({.residual = routed.residual,
                           .weights = routed.weights,
                           .chosen = routed.chosen,
                           .outputs = {},
                           .residual_gradient = {},
                           .weight_gradient = {}});
    return {nn::moe_expert_rows(model_, routed), routed.chosen, routed.kept};
}

double CutStages::forward_last(const at::Tensor& outputs) {
    const int last = model_.layers + 1;
    below(last).outputs = outputs;
    last_ = enter(last);
    loss_ = nn::moe_head(model_, dense_, last_.x, tokens_);
    return loss_.item<double>();
}

at::Tensor CutStages::backward_last(double scale) {
    const auto loss = std::exchange(loss_, {});
    torch::autograd::backward({loss}, {at::full_like(loss.detach(), scale)});
    return leave(model_.layers + 1, std::exchange(last_, {}));
}

// A stage has gone backward: what was kept below it is needed no more, but for the choices.
at::Tensor CutStages::leave(int layer, const Entered& entered) {
    if (layer == 1) return {};
    Boundary& boundary = below(layer);
    boundary.residual_gradient = entered.residual.grad();
    boundary.weight_gradient = entered.weights.grad();
    boundary.residual = boundary.weights = boundary.outputs = at::Tensor();
    return entered.outputs.grad();
}

at::Tensor CutStages::backward(int layer, const at::Tensor& row_gradients) {
    const auto above = std::move(boundaries_.back());  // of stage layer + 1: its branch b
    const auto entered = enter(layer);
    const auto routed =
        nn::moe_attend(model_, dense_, layer - 1, entered.x, above.chosen, attention_);
    torch::autograd::backward(
        {routed.residual, routed.weights, nn::moe_expert_rows(model_, routed)},
        {above.residual_gradient, above.weight_gradient, row_gradients});
    boundaries_.pop_back();
    return leave(layer, entered);
}

std::int64_t CutStages::kept_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& boundary : boundaries_)
        for (const auto& tensor :
             {boundary.residual, boundary.weights, boundary.chosen, boundary.outputs,
              boundary.residual_gradient, boundary.weight_gradient})
            if (tensor.defined()) bytes += static_cast<std::int64_t>(tensor.nbytes());
    return bytes;
}

}  // namespace assay::hetermoe
