// What the layers of a decoder compute: causal self-attention with rotary positions and grouped
// queries, feed-forward networks, and how parameters are used; the latter two can be replaced.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"

namespace assay::nn {

/// Cosines and sines of position · base^(−2i/head_width): [length, head_width / 2] each.
struct RotaryTable {
    at::Tensor cosine, sine;
};
RotaryTable rotary_table(std::int64_t length, std::int64_t head_width, double base,
                         const at::TensorOptions& options);

/// Rotates the halves of each head against each other, (a, b) → (a·cos − b·sin, b·cos + a·sin), in
/// and to the type of the table (RoFormer, arXiv 2104.09864, with the halves as Hugging Face has
/// them). x: [batch, length, heads, head_width].
at::Tensor rotate(const at::Tensor& x, const RotaryTable& table);

/// query: [batch, length, heads, head_width]; key, value: with a divisor of that number of heads,
/// each shared by neighbouring query heads. Returns [batch · length, heads · head_width]. The order
/// of operations is fixed: equal inputs and thread counts give equal bits.
at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value);

/// What the attention of a decoder remembers of the tokens that it has been fed, so that each
/// passes through it once: keys (rotated) and values of every layer. For drawing; without
/// gradients.
class KeyValueCache {
  public:
    /// Of sequences of up to `capacity` tokens.
    KeyValueCache(const DecoderConfig& config, std::int64_t capacity);
    std::int64_t tokens() const { return tokens_; }  ///< that all layers have seen
    /// Every sequence becomes `times` neighbouring ones.
    void repeat(std::int64_t times);

    /// For the decoder, layer by layer. query, key, value: [batch, new, heads, head_width] of the
    /// next tokens: any number while the cache is empty, then one. Returns [batch · new, heads ·
    /// head_width]. Throws std::invalid_argument for more tokens than there is room for, or more
    /// than one behind others.
    at::Tensor attend(int layer, const at::Tensor& query, const at::Tensor& key,
                      const at::Tensor& value);
    /// Once all layers have attended.
    void advance(std::int64_t tokens) { tokens_ += tokens; }

  private:
    std::int64_t capacity_, tokens_ = 0;
    std::vector<at::Tensor> keys_, values_;  ///< of a layer: [batch, capacity, kv_heads, width]
};

/// Where a decoder uses a parameter.
struct Place {
    int layer = -1;  ///< −1: outside the layers
    std::string_view
        name;  ///< of the parameter (decoder_config.hpp); the head: "output", tied or not
};

/// The parameters of a norm: leaves.
struct NormWeights {
    at::Tensor gain;   ///< [d], or [head_width] of queries and keys
    at::Tensor shift;  ///< [d], or undefined
    double epsilon = 1e-5;
    bool centred = false;  ///< layer norm; else RMS norm
};

/// How a decoder uses its parameters: every linear map, norm and table passes here. As it is:
/// plain. Methods that change what a parameter learns from, or add to a map, override it.
/// Parameters are leaves, whatever type is computed in; rows are tokens, sequence by sequence.
class Maps {
  public:
    virtual ~Maps() = default;
    /// x·Wᵀ + b in x's type. x: [rows, I], weight: [O, I], bias: [O] or undefined.
    virtual at::Tensor linear(const Place&, const at::Tensor& x, const at::Tensor& weight,
                              const at::Tensor& bias);
    /// x: [rows, d], in its type; of queries and keys: [rows · heads, head_width].
    virtual at::Tensor norm(const Place&, const at::Tensor& x, const NormWeights& weights);
    /// Rows of `table` [vocabulary, d] for ids [rows], as `type`.
    virtual at::Tensor embed(const Place&, const at::Tensor& table, const at::Tensor& ids,
                             at::ScalarType type);
    /// x + table[: length], for every sequence. x: [sequences, length, d].
    virtual at::Tensor add_positions(const Place&, const at::Tensor& x, const at::Tensor& table);
};

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
/// The whole network of a layer, its linear maps through `maps`. [tokens, d].
at::Tensor ffn_through(Maps& maps, int layer, const FfnWeights& leaves, const at::Tensor& x);

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

}  // namespace assay::nn
