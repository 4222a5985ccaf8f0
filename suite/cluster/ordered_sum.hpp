// Element-wise sum of equally long buffers in the order given: the same inputs in the same order
// give the same bits, whatever the back end.
#pragma once

#include <cstddef>
#include <span>

#include "suite/cluster/communicator.hpp"

namespace assay::cluster {

/// out[i] = ((parts[0][i] + parts[1][i]) + parts[2][i]) + …, `count` elements of `dtype`, at least
/// one part. bf16 adds in float32 and rounds once, to nearest even. `out` may be one of the parts.
void ordered_sum(std::span<const void* const> parts, std::size_t count, Dtype dtype, void* out);

}  // namespace assay::cluster
