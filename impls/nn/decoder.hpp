// Decoder-only transformers of LLaMA and GPT-2 shape, for training and evaluation (libtorch
// autograd). Feed-forward networks can be replaced from outside: that is where sparsity methods
// plug in.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/parameter_block.hpp"

namespace assay::nn {

/// The weights of one layer's feed-forward network, in the type they are computed in.
struct FfnWeights {
    at::Tensor gate;       ///< [f, d]; undefined unless swiglu
    at::Tensor up;         ///< [f, d]
    at::Tensor down;       ///< [d, f]
    at::Tensor up_bias;    ///< [f] or undefined
    at::Tensor down_bias;  ///< [d] or undefined
    Activation activation = Activation::swiglu;
};

/// Hidden activations h = act(x) before `down`: swiglu silu(x·gateᵀ) ∘ (x·upᵀ), else
/// act(x·upᵀ + up_bias). x: [tokens, d]. Returns [tokens, f].
at::Tensor ffn_hidden(const FfnWeights&, const at::Tensor& x);
/// hidden · downᵀ + down_bias. [tokens, d].
at::Tensor ffn_output(const FfnWeights&, const at::Tensor& hidden);

/// How the feed-forward networks are computed.
class FeedForward {
  public:
    virtual ~FeedForward() = default;
    /// x: [tokens, d], normalised, what the network sees, in the type of the weights. Returns
    /// [tokens, d], in any floating type.
    virtual at::Tensor run(int layer, const at::Tensor& x, const FfnWeights& weights) = 0;
};

/// The model as it is.
class DenseFeedForward : public FeedForward {
  public:
    at::Tensor run(int layer, const at::Tensor& x, const FfnWeights& weights) override;
};

class Decoder {
  public:
    /// Fresh weights from (config, seed): normal(0, 0.02), residual projections scaled by
    /// 1/sqrt(2·layers). Master weights are fp32.
    Decoder(const DecoderConfig& config, std::uint64_t seed, at::Device device = at::kCPU);
    /// A pretrained file. Throws UserError.
    static Decoder load(const TensorFile& file, at::Device device = at::kCPU);

    const DecoderConfig& config() const { return config_; }
    /// blocks()[0] is everything outside the layers, blocks()[1 + i] is layer i.
    std::vector<std::unique_ptr<ParameterBlock>>& blocks() { return blocks_; }
    const std::vector<std::unique_ptr<ParameterBlock>>& blocks() const { return blocks_; }
    /// A parameter by its name of decoder_config.hpp: "token_embedding", "layer3/up". A leaf.
    const at::Tensor& parameter(std::string_view name) const;

    /// Logits, fp32. ids: int64 [batch, length]. Returns [batch, length, vocabulary].
    /// compute: kFloat, or kBFloat16 for the matrix products (norms, softmax, loss stay fp32);
    /// kDouble computes everything in double (for tests; the logits are then double).
    /// Throws UserError when length exceeds the model's context.
    at::Tensor logits(const at::Tensor& ids, FeedForward& ffn,
                      at::ScalarType compute = at::kFloat) const;

    /// Sum of the cross entropy (nats) over positions where target >= 0. tokens: int64
    /// [batch, length + 1]; targets are tokens[:, 1:], unless `targets` [batch, length] is given
    /// (−1: not scored).
    at::Tensor loss(const at::Tensor& tokens, FeedForward& ffn, at::ScalarType compute = at::kFloat,
                    const at::Tensor& targets = {}) const;

    /// The feed-forward weights of a layer, fp32 leaves.
    FfnWeights ffn(int layer) const;

  private:
    Decoder() = default;
    /// Block 0 (layer −1) or a layer's, by the name without prefix. nullptr: there is none.
    const at::Tensor* find(int layer, std::string_view name) const;
    at::Tensor hidden_states(const at::Tensor& ids, FeedForward& ffn, at::ScalarType compute) const;

    DecoderConfig config_;
    std::vector<NamedShape> shared_, per_layer_;  // in the order of the blocks' parameters
    std::vector<std::unique_ptr<ParameterBlock>> blocks_;
};

}  // namespace assay::nn
