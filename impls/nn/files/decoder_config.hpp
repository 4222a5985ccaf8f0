// The shape of a decoder-only transformer, and where a file keeps each of its parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {

/// llama: RMSNorm, rotary positions, SwiGLU, no biases. gpt2: LayerNorm with bias, learned
/// positions, GELU (tanh form), biases. Custom toy models may mix (see `activation`).
enum class Family { llama, gpt2 };
/// swiglu: (silu(x·gate) ∘ x·up)·down. gelu, relu: act(x·up)·down.
enum class Activation { swiglu, gelu, relu };

std::string_view to_string(Family);
std::string_view to_string(Activation);

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
    std::string name;  ///< of the model, for people; may be empty

    std::int64_t parameters() const;  ///< exact count
    bool operator==(const DecoderConfig&) const = default;
};

/// From GGUF metadata (architectures llama, gpt2) or a Hugging Face config.json (LlamaForCausalLM,
/// MistralForCausalLM without sliding window, GPT2LMHeadModel). Throws UserError on anything else,
/// on missing or impossible values, and on what would silently change results (rope scaling,
/// attention bias in llama, an unknown activation): it says which key. What is returned fits the
/// file: every parameter is there in its shape, and no layer is left over.
DecoderConfig read_decoder_config(const TensorFile&);

/// Our names of parameters, the same in every family (shapes outermost first):
///   token_embedding [vocabulary, d]   position_embedding [context, d] (gpt2)
///   final_norm [d] (+ final_norm_bias)   output [vocabulary, d] (absent when tied)
/// per layer, prefix "layer<i>/":
///   attention_norm [d] (+_bias)  query [heads·hw, d]  key, value [kv_heads·hw, d]
///   attention_out [d, heads·hw]  ffn_norm [d]  gate, up [f, d]  down [d, f]
///   gpt2 also: query_bias, key_bias, value_bias, attention_out_bias, up_bias, down_bias, norms'
///   _bias
/// relu and gelu models have no gate.
struct NamedShape {
    std::string name;
    std::vector<std::int64_t> shape;
};
std::vector<NamedShape> shared_parameters(const DecoderConfig&);
std::vector<NamedShape> layer_parameters(const DecoderConfig&);  ///< without the prefix

/// Reads one parameter as floats in our layout, whatever the file's: GPT-2's transposed Conv1D and
/// fused qkv are taken apart, GGUF's interleaved query and key rows are put back (our rotary
/// embedding rotates the halves [0, hw/2) and [hw/2, hw) against each other, as Hugging Face does).
/// Throws UserError (missing tensor, wrong shape).
void read_parameter(const TensorFile&, const DecoderConfig&, std::string_view name,
                    std::span<float> out);

/// The stored tensor behind a parameter when its rows [out, in] are stored as they are, or with the
/// order of rows changed only (`row_order[i]` = stored row of our row i; empty: unchanged), so that
/// a decoder may keep quantised rows. nullopt where that is not so (transposed, fused) and for
/// vectors. Throws UserError (missing tensor, wrong shape).
struct StoredRows {
    const TensorEntry* tensor = nullptr;
    std::vector<std::int32_t> row_order;
};
std::optional<StoredRows> stored_rows(const TensorFile&, const DecoderConfig&,
                                      std::string_view name);

}  // namespace assay::nn
