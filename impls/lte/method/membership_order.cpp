#include "impls/lte/method/membership_order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/experiment/error.hpp"

namespace assay::lte {

Grouping grouping_of(const Membership& group, int expert_size) {
    std::vector<std::vector<std::int64_t>> experts(group.size() /
                                                   static_cast<std::size_t>(expert_size));
    for (std::size_t i = 0; i < group.size(); ++i)
        experts[static_cast<std::size_t>(group[i])].push_back(static_cast<std::int64_t>(i));
    std::sort(experts.begin(), experts.end());
    Grouping grouping{expert_size, {}};
    for (const auto& expert : experts)
        grouping.order.insert(grouping.order.end(), expert.begin(), expert.end());
    return grouping;
}

void check_expert_size(std::int64_t neurons, int expert_size) {
    if (expert_size > 0 && neurons > 0 && neurons % expert_size == 0) return;
    throw UserError(
        fmt::format("{} neurons cannot be split into experts of {} neurons each; choose "
                    "an expert size that divides {}",
                    neurons, expert_size, neurons));
}

}  // namespace assay::lte
