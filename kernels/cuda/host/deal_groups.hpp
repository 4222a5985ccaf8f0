// How a device's multiprocessors are dealt to parts that share none: plain arithmetic, tested
// without a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::kernels::cuda {

/// [part]: the groups it gets, by number; empty with `why_not` where they do not suffice.
struct DealtGroups {
    std::vector<std::vector<int>> groups;
    std::string why_not;
};

/// A driver splits a device into groups of `group_sizes` multiprocessors, all of one split, and a
/// part is made of whole groups. Each part, in turn, takes the next groups until it has at least
/// what it asked for; what is left stays unused. `asked`: at least one part, each 1 or more.
DealtGroups deal_groups(const std::vector<int>& group_sizes,
                        const std::vector<std::int32_t>& asked);

}  // namespace assay::kernels::cuda
