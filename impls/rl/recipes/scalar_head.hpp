// One number for what a decoder has read so far: the value of a state (PPO's critic), or the worth
// of an answer (a model of rewards).
#pragma once

#include <ATen/core/Tensor.h>

#include "impls/nn/decoder.hpp"
#include "impls/nn/parameter_block.hpp"

namespace assay::rl {

/// hidden · weight + bias. Starts at 0 everywhere.
class ScalarHead {
  public:
    /// For hidden states so wide.
    explicit ScalarHead(std::int64_t width);
    /// hidden: [..., width], fp32 or double. Returns [...], in its type, with graph.
    at::Tensor operator()(const at::Tensor& hidden) const;
    /// The same, from which the head itself learns nothing.
    at::Tensor held(const at::Tensor& hidden) const;
    nn::ParameterBlock& block() { return block_; }
    const nn::ParameterBlock& block() const { return block_; }

  private:
    nn::ParameterBlock block_;  // weight [width], bias [1]
};

/// What a policy with a critic makes of rows.
struct Evaluation {
    at::Tensor log_probabilities;  ///< [rows, length]: ln p of tokens[:, 1:]
    at::Tensor hidden;             ///< [rows, length, width]: what the critic sees before each
};

/// One forward pass, with graph, every parameter of the policy used through `maps`. tokens: int64
/// [rows, length + 1]. Returns fp32, or double where `compute` is (for tests).
Evaluation evaluate(const nn::Decoder& policy, const at::Tensor& tokens, nn::Maps& maps,
                    at::ScalarType compute = at::kFloat);

}  // namespace assay::rl
