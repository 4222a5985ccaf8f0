// One micro-batch on an attention rank, with autograd cut where its rows leave for the experts:
// each stage is a graph of its own, made anew when its gradients are wanted.
//
// Stage i is the combine of layer i-1, attention and gate of layer i; the last stage the last
// combine, norm, head and loss. What is kept between stages is a boundary: the residual, the
// experts' outputs, their weights and the choices; everything else is computed again (the paper
// checkpoints activations, section 6.1).
//
// The gate rule (paper section 5): a stage's outputs are rows for the experts, weights of their
// outputs, and the residual. The gradients of the last two (branch b) are there as soon as the
// stage above is done, those of the rows only once the experts' ranks have sent them back. A stage
// goes backward once, from all of them: branch b alone would run to the first layer, and the
// experts below would be sent gradients that lack a part.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "impls/nn/moe/stages.hpp"

namespace assay::hetermoe {

class CutStages {
  public:
    /// tokens: [batch, length + 1], int64. `choice`: made in the gates' place.
    CutStages(const nn::MoeGptConfig& model, const nn::ParameterBlock& dense, at::Tensor tokens,
              nn::Attention attention = nn::Attention::written_out, nn::ForcedChoice choice = {})
        : model_(model),
          dense_(dense),
          tokens_(std::move(tokens)),
          attention_(attention),
          choice_(std::move(choice)) {}

    struct ForExperts {
        at::Tensor rows;    ///< [choices, width]
        at::Tensor chosen;  ///< [tokens, top_k]
        at::Tensor kept;    ///< as Routed has it
    };
    /// Stage `layer`, from 1. `outputs`: of the experts of the layer before, a row for each choice;
    /// undefined for the first. Stages come in order.
    ForExperts forward(int layer, const at::Tensor& outputs);
    /// The last stage; sum over the tokens, in nats. Its graph stays until backward_last(), which
    /// follows at once in Theorem 1's order.
    double forward_last(const at::Tensor& outputs);

    /// `scale`: the gradient of the loss. Returns that of `outputs`.
    at::Tensor backward_last(double scale);
    /// `row_gradients`: of forward(layer)'s rows. Returns the gradients of the outputs of the
    /// layer before; undefined for the first. Stages come in reverse order.
    at::Tensor backward(int layer, const at::Tensor& row_gradients);

    /// Of what is kept now.
    std::int64_t kept_bytes() const;

  private:
    /// Between stage `layer` and the one above.
    struct Boundary {
        at::Tensor residual, weights, chosen, outputs;
        at::Tensor residual_gradient, weight_gradient;  ///< branch b
    };
    struct Entered {
        at::Tensor residual, weights, outputs;  ///< leaves; undefined for the first stage
        at::Tensor x;
    };
    Boundary& below(int layer) { return boundaries_[static_cast<std::size_t>(layer - 2)]; }
    Entered enter(int layer);
    at::Tensor leave(int layer, const Entered& entered);

    const nn::MoeGptConfig& model_;
    const nn::ParameterBlock& dense_;
    at::Tensor tokens_;
    nn::Attention attention_;
    nn::ForcedChoice choice_;
    std::vector<Boundary> boundaries_;
    Entered last_;
    at::Tensor loss_;
};

}  // namespace assay::hetermoe
