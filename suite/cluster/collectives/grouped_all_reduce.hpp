// Sums that do not depend on the back end: of equally long buffers in the order given, and of many
// buffers, each over its own subset of ranks, in two all-to-all exchanges.
//
// Every buffer is cut into one piece per holder; holder i adds up piece i of all holders *in rank
// order* and sends the sum back. So all holders get the same bits, and one call serves the
// non-expert gradients (holders: everyone) and every expert's gradient group at once, without a
// communicator per expert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "suite/cluster/collectives/communicator.hpp"

namespace assay::cluster {

/// out[i] = ((parts[0][i] + parts[1][i]) + parts[2][i]) + …, `count` elements of `dtype`, at least
/// one part. bf16 adds in float32 and rounds once, to nearest even. `out` may be one of the parts.
void ordered_sum(std::span<const void* const> parts, std::size_t count, Dtype dtype, void* out);

/// One buffer and who holds it.
struct SharedBuffer {
    std::int64_t count = 0;    ///< elements
    std::vector<int> holders;  ///< ranks, ascending, at least one
    void* data = nullptr;      ///< null on ranks that do not hold it
};

/// Collective: every rank passes the same list (count and holders equal; data where it holds it).
/// On return each holder's data is the sum over holders. Dtype f32 or f64; anything else, and lists
/// that contradict themselves, throw std::invalid_argument. After CommunicatorBroken the contents
/// of the buffers are unspecified: a rank may have got part of the sums.
void grouped_all_reduce(Communicator& comm, std::span<const SharedBuffer> buffers, Dtype dtype);

}  // namespace assay::cluster
