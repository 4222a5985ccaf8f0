// Which of several buffers are copied together on the device before they are summed: each operation
// of NCCL costs microseconds whatever its size, a copy within the device next to nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::cluster::nccl {

/// Buffers up to so many bytes are packed, and so many bytes together at most. Estimates: an
/// all-reduce of 1 MiB takes a few times what it takes of nothing.
constexpr std::size_t largest_packed_bytes = 1 << 20, largest_pack_bytes = 32 << 20;
/// Where a piece begins in the packed buffer: a multiple of this, for wide copies.
constexpr std::size_t packed_alignment = 16;

struct Piece {
    std::size_t buffer;        ///< its place in the list
    std::size_t offset_bytes;  ///< in the packed buffer
    friend bool operator==(const Piece&, const Piece&) = default;
};
struct Packing {
    std::vector<Piece> pieces;
    std::size_t bytes = 0;           ///< of the packed buffer
    std::vector<std::size_t> alone;  ///< buffers that are summed where they lie
};

/// `bytes`: of each buffer; empty ones are left out. The same list gives the same packing on every
/// rank. One piece alone is not packed.
Packing plan_packing(std::span<const std::size_t> bytes);

}  // namespace assay::cluster::nccl
