// The shape of a decoder-only transformer, read from a file, and the names of its parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"
#include "suite/base/describe.hpp"

namespace assay::nn {

/// llama: RMSNorm, rotary positions, SwiGLU, no biases but those of `query_key_value_biases`. gpt2:
/// LayerNorm with bias, learned positions, GELU (tanh form), biases. Custom toy models may mix (see
/// `activation`).
enum class Family { llama, gpt2 };
/// swiglu: (silu(x·gate) ∘ x·up)·down. gelu, relu: act(x·up)·down.
enum class Activation { swiglu, gelu, relu };

ASSAY_NAMES(Family, llama, gpt2)
ASSAY_NAMES(Activation, swiglu, gelu, relu)

struct DecoderConfig {
    Family family = Family::llama;
    Activation activation = Activation::swiglu;
    int layers = 4;
    int width = 128;      ///< d
    int hidden = 512;     ///< f, neurons of one feed-forward network
    int heads = 4;        ///< query heads
    int kv_heads = 4;     ///< key and value heads; divides heads
    int head_width = 32;  ///< heads · head_width need not be width
    int vocabulary = 256;
    int context = 128;  ///< longest sequence
    double rope_base = 10000;
    double norm_epsilon = 1e-5;
    bool tied_embeddings = true;
    /// llama: RMSNorm over each head of queries and keys before they are rotated (Qwen3).
    bool query_key_norms = false;
    /// llama: biases of query, key and value, and of nothing else (Qwen2, Qwen2.5).
    bool query_key_value_biases = false;
    std::string name;  ///< of the model, for people; may be empty

    std::int64_t parameters() const;  ///< exact count
    bool operator==(const DecoderConfig&) const = default;
};

/// From GGUF metadata (architectures llama, qwen2, qwen3, gpt2) or a Hugging Face config.json
/// (LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM, MistralForCausalLM without sliding
/// window, GPT2LMHeadModel). Throws UserError on anything else, on missing or impossible values,
/// and on what would silently change results (rope scaling, sliding windows, attention bias in
/// llama, an unknown activation): it says which key. What is returned fits the file: every
/// parameter is there in its shape, and no layer is left over.
DecoderConfig read_decoder_config(const TensorFile&);

/// Our names of parameters, the same in every family (shapes outermost first):
///   token_embedding [vocabulary, d]   position_embedding [context, d] (gpt2)
///   final_norm [d] (+ final_norm_bias)   output [vocabulary, d] (absent when tied)
/// per layer, prefix "layer<i>/":
///   attention_norm [d] (+_bias)  query [heads·hw, d]  key, value [kv_heads·hw, d]
///   attention_out [d, heads·hw]  ffn_norm [d]  gate, up [f, d]  down [d, f]
///   query_norm, key_norm [hw], where there are any
///   query_bias, key_bias, value_bias [as many as rows], where there are any
///   gpt2 also: query_bias, key_bias, value_bias, attention_out_bias, up_bias, down_bias, norms'
///   _bias
/// relu and gelu models have no gate.
struct NamedShape {
    std::string name;
    std::vector<std::int64_t> shape;
};
std::vector<NamedShape> shared_parameters(const DecoderConfig&);
std::vector<NamedShape> layer_parameters(const DecoderConfig&);  ///< without the prefix

}  // namespace assay::nn
