// Training text passed once through a decoder, for methods that are set by what they see.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/token_data.hpp"

namespace assay::lte {

/// Batches for calibration: their seed, apart from those of trainings.
inline constexpr std::uint64_t calibration_seed = 0xca11b4a7e;

/// One forward pass of `sequences` training windows, a function of (seed, part), without gradients
/// and in fp32. A feed-forward network that settles itself from what it is given, layer after
/// layer, sees in each layer what the settled layers before it make.
void pass_training_text(const nn::Decoder&, nn::FeedForward&, const nn::TokenData&, int sequences,
                        std::uint64_t seed = calibration_seed, std::int64_t part = 0);

/// t such that round(share · n) of the n values have |value| <= t (more where values are equal to
/// t); −1 where that is none of them.
double magnitude_threshold(const at::Tensor& values, double share);

}  // namespace assay::lte
