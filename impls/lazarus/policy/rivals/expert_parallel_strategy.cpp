#include "impls/lazarus/policy/rivals/expert_parallel_strategy.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "impls/lazarus/policy/rivals/expert_parallel.hpp"

namespace assay::lazarus {

ExpertParallelStrategy::ExpertParallelStrategy(const ControllerConfig& config)
    : Strategy(config), experts_(config.experts), group_(config.group) {
    if (group_ < 1) {
        throw std::invalid_argument(
            fmt::format("Lazarus controller: group is {}, it must be at least 1", group_));
    }
    if (experts_ % group_ != 0) {
        throw std::invalid_argument(fmt::format(
            "Lazarus controller: group is {}, it must divide the {} experts", group_, experts_));
    }
    if (config.slots < experts_ / group_) {
        throw std::invalid_argument(
            fmt::format("Lazarus controller: slots is {}, it must be at least {}", config.slots,
                        experts_ / group_));
    }
}

int ExpertParallelStrategy::usable(int nodes) const { return nodes_in_whole_groups(nodes, group_); }

std::string ExpertParallelStrategy::too_few(int nodes) const {
    return fmt::format(
        "{} worker{} cannot form a group of {} that holds every expert once: start more workers or "
        "make the group smaller",
        nodes, nodes == 1 ? "" : "s", group_);
}

std::vector<int> ExpertParallelStrategy::surplus(const ModelPlacement& held) const {
    return surplus_nodes(held, usable(static_cast<int>(held.at(0).size())));
}

ModelPlacement ExpertParallelStrategy::holders(const ModelPlacement& held,
                                               const std::vector<Loads>&) const {
    return place_in_groups(held, experts_, group_);
}

}  // namespace assay::lazarus
