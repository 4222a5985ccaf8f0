// Perplexity of held-out text.
#pragma once

#include <cstdint>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/token_data.hpp"

namespace assay::nn {

struct Evaluation {
    std::int64_t windows = 0;  ///< scored; fewer than asked for where the text has no more
    std::int64_t tokens = 0;   ///< scored
    std::int64_t bytes = 0;    ///< that the scored tokens stand for
    double nll_nats_per_token = 0;
    double bits_per_byte = 0;
    double perplexity() const;  ///< exp(nll)
};

/// Over at most `windows` held-out windows (0: all), without gradients. Throws UserError when the
/// data has none.
Evaluation evaluate(const Decoder&, FeedForward&, const TokenData&, int windows, int sequences = 8,
                    at::ScalarType compute = at::kFloat);

}  // namespace assay::nn
