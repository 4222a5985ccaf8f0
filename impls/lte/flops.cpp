#include "impls/lte/flops.hpp"

#include <fmt/format.h>

#include "impls/lte/expert_size.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lte {

int experts_per_layer(const nn::DecoderConfig& config) {
    if (config.hidden % expert_size != 0)
        throw UserError(fmt::format(
            "{} neurons per feed-forward network do not divide into experts of {}; LTE needs a "
            "multiple of {}",
            config.hidden, expert_size, expert_size));
    return config.hidden / expert_size;
}

TokenFlops layer_flops(const nn::DecoderConfig& config, double sparsity, bool routed) {
    const double experts = experts_per_layer(config);
    const double d = config.width, head = config.head_width;
    const double matrices = config.activation == nn::Activation::swiglu ? 3 : 2;
    TokenFlops flops;
    flops.attention = 2 * (2 * d * config.heads * head + 2 * d * config.kv_heads * head);
    flops.ffn = 2 * matrices * d * config.hidden * (1 - sparsity);
    flops.router = routed ? 2 * d * experts : 0;
    return flops;
}

TokenFlops token_flops(const nn::DecoderConfig& config, double sparsity, bool routed) {
    TokenFlops flops = layer_flops(config, sparsity, routed);
    flops.attention *= config.layers;
    flops.ffn *= config.layers;
    flops.router *= config.layers;
    return flops;
}

double implied_sparsity(const nn::DecoderConfig& config, double flops, bool routed) {
    const TokenFlops dense = token_flops(config, 0, routed);
    return (dense.total() - flops) / dense.ffn;
}

}  // namespace assay::lte
