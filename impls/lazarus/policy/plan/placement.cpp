#include "impls/lazarus/policy/plan/placement.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "impls/lazarus/policy/beyond/guarded_placement.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/mro.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

Placement place_spread(const Replicas& replicas, int nodes, int slots) {
    Placement placement(static_cast<std::size_t>(nodes));
    std::size_t cursor = 0;
    for (std::size_t e = 0; e < replicas.size(); ++e) {
        for (int r = 0; r < replicas[e]; ++r) {
            while (placement[cursor % placement.size()].size() == static_cast<std::size_t>(slots))
                ++cursor;
            placement[cursor++ % placement.size()].push_back(static_cast<int>(e));
        }
    }
    return placement;
}

Placement place_compact(const Replicas& replicas, int nodes, int slots) {
    Placement placement(static_cast<std::size_t>(nodes));
    std::size_t cursor = 0;
    for (std::size_t e = 0; e < replicas.size(); ++e) {
        for (int r = 0; r < replicas[e]; ++r) {
            if (placement[cursor].size() == static_cast<std::size_t>(slots)) ++cursor;
            placement[cursor].push_back(static_cast<int>(e));
        }
    }
    return placement;
}

}  // namespace

void check_placement(const Replicas& replicas, int nodes, int slots,
                     std::span<const Tokens> loads) {
    if (nodes < 1 || slots < 1) {
        throw UserError(fmt::format("{} nodes with {} slots: at least one of each", nodes, slots));
    }
    if (!loads.empty() && loads.size() != replicas.size()) {
        throw UserError(
            fmt::format("loads of {} experts but replicas of {}", loads.size(), replicas.size()));
    }
    std::int64_t sum = 0;
    for (std::size_t e = 0; e < replicas.size(); ++e) {
        if (replicas[e] < 1) {
            throw UserError(fmt::format("expert {} has {} replicas: at least one", e, replicas[e]));
        }
        sum += replicas[e];
    }
    if (sum != static_cast<std::int64_t>(nodes) * slots) {
        throw UserError(
            fmt::format("{} replicas do not fill {} nodes with {} slots each", sum, nodes, slots));
    }
}

Placement place(PlacementPolicy policy, const Replicas& replicas, int nodes, int slots,
                std::span<const Tokens> loads) {
    check_placement(replicas, nodes, slots, loads);
    switch (policy) {
        case PlacementPolicy::mro:
            return place_mro(replicas, nodes, slots, loads);
        case PlacementPolicy::spread:
            return place_spread(replicas, nodes, slots);
        case PlacementPolicy::compact:
            return place_compact(replicas, nodes, slots);
        case PlacementPolicy::mro_guarded:
            return guarded_placement(replicas, nodes, slots, loads).placement;
    }
    return {};
}

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
