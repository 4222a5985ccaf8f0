// Where the windows of a batch begin in a text.
#pragma once

#include <cstdint>

#include "impls/nn/counter_hash.hpp"

namespace assay::nn {

/// Start of sequence `number` of the global batch of step `step`, one of 0 … windows − 1: a
/// function of its arguments, whoever asks and in which order.
inline std::uint64_t window_start(std::uint64_t seed, std::int64_t step, std::uint64_t number,
                                  std::uint64_t windows) {
    return counter_hash(counter_hash(seed) ^
                        counter_hash(static_cast<std::uint64_t>(step) * 0x10001 + 1) ^
                        counter_hash(number + 0x5851f42dULL)) %
           windows;
}

}  // namespace assay::nn
