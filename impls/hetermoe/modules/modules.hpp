// Attention and experts of Mixtral's shape, forward and backward, as a new and as an old GPU
// compute them: what Fig. 2 times.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace assay::hetermoe {

/// How scores and values meet: in one kernel that keeps scores on the chip, or through memory.
enum class AttentionKind { fused, materialised };

/// Causal, grouped queries, no positions (they take no time that matters).
struct AttentionModule {
    std::int64_t heads = 32, kv_heads = 8, head_size = 128;
    at::Tensor query, key, value, output;  ///< weights, [out][in]

    /// Mixtral 8x7B's, random.
    static AttentionModule random(const at::TensorOptions& options);
    std::int64_t width() const { return heads * head_size; }
};

/// What a pass leaves: the output and every gradient.
struct AttentionPass {
    at::Tensor y, dx, dquery, dkey, dvalue, doutput;
};

/// x, dy: [tokens][width]. Both kinds compute the same but for rounding. Materialised: tiles of
/// `tile` queries, whose scores, [heads][tile][keys so far], are written to memory, read for the
/// softmax and again for the product, forward and backward. The backward pass of a tile follows its
/// forward pass, so that no more than one tile's scores are kept.
AttentionPass attention_pass(const AttentionModule& module, const at::Tensor& x,
                             const at::Tensor& dy, AttentionKind kind, std::int64_t tile = 512);

/// SwiGLU.
struct ExpertModule {
    at::Tensor gate, up, down;                                     ///< weights, [out][in]
    static ExpertModule random(const at::TensorOptions& options);  ///< Mixtral 8x7B's
};

struct ExpertPass {
    at::Tensor y, dx, dgate, dup, ddown;
};

/// x, dy: [tokens][width].
ExpertPass expert_pass(const ExpertModule& module, const at::Tensor& x, const at::Tensor& dy);

}  // namespace assay::hetermoe
