#include "suite/cluster/nccl/packing.hpp"

#include <algorithm>

namespace assay::cluster::nccl {

Packing plan_packing(std::span<const std::size_t> bytes) {
    Packing packing;
    for (std::size_t buffer = 0; buffer < bytes.size(); ++buffer) {
        if (bytes[buffer] == 0) continue;
        const std::size_t offset =
            (packing.bytes + packed_alignment - 1) / packed_alignment * packed_alignment;
        if (bytes[buffer] > largest_packed_bytes || offset + bytes[buffer] > largest_pack_bytes) {
            packing.alone.push_back(buffer);
            continue;
        }
        packing.pieces.push_back({buffer, offset});
        packing.bytes = offset + bytes[buffer];
    }
    if (packing.pieces.size() == 1) {
        packing.alone.push_back(packing.pieces.front().buffer);
        std::sort(packing.alone.begin(), packing.alone.end());
        packing.pieces.clear();
        packing.bytes = 0;
    }
    return packing;
}

}  // namespace assay::cluster::nccl
