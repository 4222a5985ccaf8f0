#include "impls/lte/baselines/calibration.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <tuple>

namespace assay::lte {

void pass_training_text(const nn::Decoder& decoder, nn::FeedForward& ffn, const nn::TokenData& data,
                        int sequences, std::uint64_t seed, std::int64_t part) {
    const at::NoGradGuard no_grad;
    const auto tokens =
        data.batch(seed, part, sequences).to(decoder.blocks().front()->values().device());
    decoder.logits(tokens.narrow(1, 0, tokens.size(1) - 1), ffn);
}

double magnitude_threshold(const at::Tensor& values, double share) {
    const auto magnitude = values.detach().to(at::kFloat).abs().flatten();
    const auto below = std::llround(share * static_cast<double>(magnitude.numel()));
    if (below == 0) return -1;
    return std::get<0>(magnitude.kthvalue(below)).item<double>();
}

}  // namespace assay::lte
