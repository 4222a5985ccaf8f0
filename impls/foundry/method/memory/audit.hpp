// The pointer audit: which words of kernel parameters are addresses of the region, and whether
// memory is live there once SAVE has ended (specification 2, I1; its exact shape 3.12.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "impls/foundry/method/graphs/graph.hpp"
#include "impls/foundry/method/memory/region.hpp"

namespace assay::foundry {

struct AuditItem {
    std::int64_t batch = 0;
    std::size_t node = 0;       ///< in the graph, all types counted
    std::size_t offset = 0;     ///< in the node's parameters, bytes
    std::uint64_t address = 0;  ///< what stands there
    std::optional<Range>
        range;  ///< the live range that it points into; none: nothing is live there

    bool operator==(const AuditItem&) const = default;
};

/// Every word of 64 bits at a multiple of eight bytes whose value lies in `region`, in the order of
/// nodes and offsets. `live` rises and does not overlap, as SavedMemory has it.
std::vector<AuditItem> audit(const Graph& graph, const Range& region, std::span<const Range> live);

}  // namespace assay::foundry
