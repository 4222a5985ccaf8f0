// Arithmetic of one token through a decoder whose feed-forward networks leave experts out: the
// convention of the paper's Table 1.
#pragma once

#include "impls/nn/files/decoder_config.hpp"

namespace assay::lte {

/// The unit of Table 1: 12.06 "GFLOPs" of LLaMA-7B are 12.0625 times this.
inline constexpr double flops_unit = 1024.0 * 1024.0 * 1024.0;

/// FLOPs of one token, one layer or all of them.
struct TokenFlops {
    double attention = 0;  ///< query, key, value and output projections
    double ffn = 0;        ///< the experts that are not left out
    double router = 0;     ///< one bias-free matrix, d × N

    double total() const { return attention + ffn + router; }
};

/// Experts of one layer. Throws UserError when the neurons do not divide into experts.
int experts_per_layer(const nn::DecoderConfig& config);

/// Of one layer, at a sparsity of the feed-forward networks from 0 to 1. Products with weight
/// matrices only, a multiply and an add counted as two: no scores over earlier tokens, no norms and
/// activation functions. `routed`: whether routers choose the experts (else nothing is paid for the
/// choice). Throws UserError as above.
TokenFlops layer_flops(const nn::DecoderConfig& config, double sparsity, bool routed);

/// Of all layers; embedding and output projection are not counted (Table 1).
TokenFlops token_flops(const nn::DecoderConfig& config, double sparsity, bool routed);

/// The sparsity at which token_flops() totals `flops`. Outside [0, 1] where no sparsity does.
double implied_sparsity(const nn::DecoderConfig& config, double flops, bool routed);

}  // namespace assay::lte
