// Decoder-only transformers of LLaMA, Qwen and GPT-2 shape, for training and evaluation (libtorch
// autograd). Feed-forward networks, or the use of every parameter, can be replaced from outside
// (decoder_layers.hpp): that is where sparsity, adapters and selection of rows plug in.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "impls/nn/decoder_layers.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/parameter_block.hpp"

namespace assay::nn {

class Decoder {
  public:
    /// Fresh weights from (config, seed): normal(0, 0.02), residual projections scaled by
    /// 1/sqrt(2·layers). Weights, gradients and moments are of `stored`.
    Decoder(const DecoderConfig& config, std::uint64_t seed, at::Device device = at::kCPU,
            at::ScalarType stored = at::kFloat, Draw draw = Draw::by_name);
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

    /// The same with the model's own feed-forward networks, every parameter used through `maps`.
    at::Tensor logits(const at::Tensor& ids, Maps& maps, at::ScalarType compute = at::kFloat) const;

    /// Logits of the token after `ids`, int64 [batch, new], which come behind those that `cache`
    /// has seen and is then one of: fp32 [batch, vocabulary]. Without gradients. Throws UserError
    /// as logits() does, std::invalid_argument as the cache.
    at::Tensor next_logits(const at::Tensor& ids, KeyValueCache& cache) const;

    /// What the head sees, behind the final norm: [batch · length, width], in `compute`.
    at::Tensor hidden_states(const at::Tensor& ids, Maps& maps,
                             at::ScalarType compute = at::kFloat) const;
    /// The head: logits of such states, [batch · length, vocabulary].
    at::Tensor head(const at::Tensor& hidden, Maps& maps) const;

    /// Sum of the cross entropy (nats) over positions where target >= 0. tokens: int64
    /// [batch, length + 1]; targets are tokens[:, 1:], unless `targets` [batch, length] is given
    /// (−1: not scored).
    at::Tensor loss(const at::Tensor& tokens, FeedForward& ffn, at::ScalarType compute = at::kFloat,
                    const at::Tensor& targets = {}) const;

    /// The cross entropy (nats) of every position, every parameter used through `maps`; 0 where the
    /// target is −1. tokens: int64 [batch, length + 1], targets: [batch, length]. Returns
    /// [batch, length].
    at::Tensor token_losses(const at::Tensor& tokens, Maps& maps, const at::Tensor& targets,
                            at::ScalarType compute = at::kFloat) const;

    /// The feed-forward weights of a layer, fp32 leaves.
    FfnWeights ffn(int layer) const;

  private:
    Decoder() = default;
    /// Block 0 (layer −1) or a layer's, by the name without prefix. nullptr: there is none.
    const at::Tensor* find(int layer, std::string_view name) const;
    /// Without `ffn`: the model's own networks, through `maps`.
    at::Tensor logits(const at::Tensor& ids, FeedForward* ffn, Maps& maps,
                      at::ScalarType compute) const;
    at::Tensor hidden_states(const at::Tensor& ids, FeedForward* ffn, Maps& maps,
                             at::ScalarType compute, KeyValueCache* cache) const;

    DecoderConfig config_;
    std::vector<NamedShape> shared_, per_layer_;  // in the order of the blocks' parameters
    std::vector<std::unique_ptr<ParameterBlock>> blocks_;
};

}  // namespace assay::nn
