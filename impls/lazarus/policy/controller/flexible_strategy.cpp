#include "impls/lazarus/policy/controller/flexible_strategy.hpp"

#include <fmt/format.h>

#include <utility>

#include "impls/lazarus/policy/plan/node_mapping.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"

namespace assay::lazarus {

int FlexibleStrategy::usable(int nodes) const {
    const auto slots = static_cast<long long>(nodes) * config_.slots;
    return slots >= config_.experts ? nodes : 0;
}

std::string FlexibleStrategy::too_few(int nodes) const {
    return fmt::format(
        "{} worker{} with {} slot{} each cannot hold {} experts per layer: start more workers or "
        "give them more slots",
        nodes, nodes == 1 ? "" : "s", config_.slots, config_.slots == 1 ? "" : "s",
        config_.experts);
}

ModelPlacement FlexibleStrategy::holders(const ModelPlacement& held,
                                         const std::vector<Loads>& loads) const {
    return mapped(held, plan(loads, static_cast<int>(held.at(0).size())));
}

bool FlexibleStrategy::rebalances_after(Step committed) const {
    return config_.rebalance_every > 0 && committed % config_.rebalance_every == 0;
}

ModelPlacement FlexibleStrategy::mapped(const ModelPlacement& held, ModelPlacement plan) const {
    return map_layers(held, std::move(plan));
}

ModelPlacement LazarusStrategy::plan(const std::vector<Loads>& loads, int nodes) const {
    return make_model_plan(loads, nodes, config().slots, config().min_replicas, config().placement)
        .placement;
}

ModelPlacement JointStrategy::mapped(const ModelPlacement& held, ModelPlacement plan) const {
    return map_layers_jointly(held, std::move(plan));
}

}  // namespace assay::lazarus
