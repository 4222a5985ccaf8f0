#include "kernels/cuda/host/deal_groups.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

namespace assay::kernels::cuda {

DealtGroups deal_groups(const std::vector<int>& group_sizes,
                        const std::vector<std::int32_t>& asked) {
    if (asked.empty()) return {{}, "no part is asked for"};
    DealtGroups dealt;
    std::size_t next = 0;
    for (const std::int32_t wanted : asked) {
        if (wanted < 1) return {{}, "a part needs at least one multiprocessor"};
        std::vector<int> own;
        int got = 0;
        for (; got < wanted && next < group_sizes.size(); ++next) {
            own.push_back(static_cast<int>(next));
            got += group_sizes[next];
        }
        if (got < wanted)
            return {{},
                    "the device comes apart into " + std::to_string(group_sizes.size()) +
                        " groups of multiprocessors, " +
                        std::to_string(std::accumulate(group_sizes.begin(), group_sizes.end(), 0)) +
                        " in all, too few for what is asked for; ask for less, or in multiples of "
                        "the groups"};
        dealt.groups.push_back(std::move(own));
    }
    return dealt;
}

}  // namespace assay::kernels::cuda
