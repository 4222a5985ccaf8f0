// Deja Vu: small networks that predict which neurons will be the strongest.
#pragma once

#include <cstdint>
#include <memory>

#include "impls/lte/rivals/rival.hpp"

namespace assay::lte {

/// Deja-Vu-style predictors (Liu et al., ICML 2023): per layer a two-matrix network d → rank → f
/// without a nonlinearity between, trained by binary cross entropy to tell which neurons are among
/// the `keep` share with the largest |h|, where both classes weigh alike; at run time the top
/// `keep` share of its outputs is computed. Fitted on hidden states of training text, the decoder
/// frozen. A function of its arguments. Keeps (2·d + f) bytes per token and layer while fitting.
struct DejaVuOptions {
    int rank = 64;
    int steps = 200;  ///< of `tokens` hidden states each
    int tokens = 512;
    double learning_rate = 1e-3;
    int sequences = 8;  ///< of training text
    std::uint64_t seed = 1;
};
/// Sequences whose states fit into `bytes` while fitting, and that many at most as are drawn.
int sequences_within(double bytes, const nn::DecoderConfig&, int context, const DejaVuOptions&);

std::unique_ptr<SelectingFeedForward> deja_vu(const nn::Decoder&, const nn::TokenData&, double keep,
                                              const DejaVuOptions&);

}  // namespace assay::lte
