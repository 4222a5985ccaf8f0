#include "impls/lazarus/policy/model_plan.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "impls/lazarus/policy/allocation.hpp"
#include "impls/lazarus/policy/placement.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lazarus {

ModelPlan make_model_plan(std::span<const Loads> loads, int nodes, int slots, int min_replicas,
                          PlacementPolicy policy) {
    if (loads.empty()) throw UserError("no layers: give the loads of at least one");
    ModelPlan plan;
    for (std::size_t layer = 0; layer < loads.size(); ++layer) {
        if (loads[layer].size() != loads[0].size()) {
            throw UserError(fmt::format("layer {} has loads of {} experts, layer 0 of {}", layer,
                                        loads[layer].size(), loads[0].size()));
        }
        Allocation allocation = allocate(loads[layer], nodes, slots, min_replicas);
        plan.placement.push_back(place(policy, allocation.replicas, nodes, slots, loads[layer]));
        plan.replicas.push_back(std::move(allocation.replicas));
        plan.min_replicas_used = allocation.min_replicas_used;
    }
    return plan;
}

std::vector<Loads> uniform_loads(int layers, int experts) {
    if (layers < 1 || experts < 1) {
        throw UserError(
            fmt::format("{} layers of {} experts: at least one of each", layers, experts));
    }
    return std::vector<Loads>(static_cast<std::size_t>(layers),
                              Loads(static_cast<std::size_t>(experts), 1));
}

}  // namespace assay::lazarus
