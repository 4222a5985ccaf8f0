#include "impls/lazarus/commands/layer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

constexpr int most_nodes = 65536, most_slots = 1024;
constexpr std::size_t most_experts = 16384;  // of all layers together

void check_range(const LayerPlanRequest& request) {
    if (request.nodes < 1 || request.nodes > most_nodes) {
        throw UserError(fmt::format("--nodes {}: give 1 to {}", request.nodes, most_nodes));
    }
    if (request.slots < 1 || request.slots > most_slots) {
        throw UserError(fmt::format("--slots {}: give 1 to {}", request.slots, most_slots));
    }
    if (request.loads.size() > most_experts) {
        throw UserError(
            fmt::format("loads of {} experts: at most {}", request.loads.size(), most_experts));
    }
}

// Keeps the estimate for the largest clusters to a few seconds; its error is reported.
int samples_for(int nodes) { return std::clamp(200'000'000 / nodes, 1000, 20000); }

RecoveryOptions options_for(const LayerPlanRequest& request) {
    RecoveryOptions options;
    options.seed = request.seed;
    options.samples = samples_for(request.nodes);
    return options;
}

int experts_of(const LayerPlan& layer) {
    return static_cast<int>(layer.allocation.replicas.size());
}

RecoveryCurve of_all_layers(const ModelPlacement& placement, const JobPlan& plan) {
    const LayerPlan& first = plan.layers.front();
    return recovery_probability(placement, experts_of(first), options_for(first.request));
}

// The same replicas, placed otherwise.
RecoveryCurve placed_by(PlacementPolicy policy, const JobPlan& plan) {
    ModelPlacement placement;
    for (const LayerPlan& layer : plan.layers)
        placement.push_back(place(policy, layer.allocation.replicas, layer.request.nodes,
                                  layer.request.slots, layer.request.loads));
    return of_all_layers(placement, plan);
}

std::string recovery_sentence(const JobPlan& plan) {
    const std::string what =
        plan.layers.size() == 1
            ? "probability that every expert has a replica left after the loss of k nodes"
            : fmt::format(
                  "probability that every expert of all {} layers has a replica left after "
                  "the loss of k nodes; node i is the same machine in every layer, so this "
                  "is not the product of the layers' probabilities",
                  plan.layers.size());
    return what + "; k = 0, 1, …; " + how_found(plan.recovery);
}

}  // namespace

LayerPlan plan_layer(LayerPlanRequest request) {
    check_range(request);
    LayerPlan plan;
    plan.allocation = allocate(request.loads, request.nodes, request.slots, request.min_replicas);
    const Replicas& replicas = plan.allocation.replicas;
    const int experts = experts_of(plan);
    const RecoveryOptions options = options_for(request);
    auto placed = [&](PlacementPolicy policy) {
        return place(policy, replicas, request.nodes, request.slots, request.loads);
    };
    if (request.policy == PlacementPolicy::mro_guarded) {
        GuardedPlacement guarded =
            guarded_placement(replicas, request.nodes, request.slots, request.loads);
        plan.placement = std::move(guarded.placement);
        plan.guarded = GuardedComparison{
            guarded.dominates, guarded.source,
            mro_truncated(replicas, request.nodes, request.slots),
            recovery_probability(placed(PlacementPolicy::mro), experts, options),
            recovery_probability(placed(PlacementPolicy::spread), experts, options)};
    } else {
        plan.placement = placed(request.policy);
    }
    plan.recovery = recovery_probability(plan.placement, experts, options);
    plan.last_group_cut = request.policy == PlacementPolicy::mro &&
                          mro_truncated(replicas, request.nodes, request.slots);
    plan.request = std::move(request);
    return plan;
}

nlohmann::json to_json(const LayerPlan& plan) {
    nlohmann::json json = {{"replicas", plan.allocation.replicas},
                           {"nodes", plan.placement},
                           {"recovery", plan.recovery.probability},
                           {"recovery_method", to_string(plan.recovery.method)},
                           {"recovery_error", plan.recovery.error},
                           {"min_replicas_used", plan.allocation.min_replicas_used},
                           {"placement", to_string(plan.request.policy)}};
    if (plan.guarded) json["dominates"] = plan.guarded->dominates;
    return json;
}

JobPlan plan_job(const std::vector<Loads>& layers, const LayerPlanRequest& request) {
    std::size_t experts = 0;
    for (const Loads& layer : layers) experts += layer.size();
    if (layers.size() > 1 && experts > most_experts)
        throw UserError(fmt::format(
            "{} layers with {} experts in all: at most {}. Each line is a layer; give those of one "
            "step, not of many",
            layers.size(), experts, most_experts));
    JobPlan plan;
    ModelPlacement placement;
    for (const Loads& loads : layers) {
        LayerPlanRequest one = request;
        one.loads = loads;
        plan.layers.push_back(plan_layer(std::move(one)));
        placement.push_back(plan.layers.back().placement);
    }
    plan.recovery = of_all_layers(placement, plan);
    if (request.policy == PlacementPolicy::mro_guarded) {
        plan.mro = placed_by(PlacementPolicy::mro, plan);
        plan.spread = placed_by(PlacementPolicy::spread, plan);
    }
    return plan;
}

nlohmann::json to_json(const JobPlan& plan) {
    nlohmann::json layers = nlohmann::json::array();
    int least = plan.layers.front().allocation.min_replicas_used;
    for (const LayerPlan& layer : plan.layers) {
        nlohmann::json one = to_json(layer);
        one["layer"] = layers.size();
        one["loads"] = layer.request.loads;
        layers.push_back(std::move(one));
        least = std::min(least, layer.allocation.min_replicas_used);
    }
    nlohmann::json json =
        plan.layers.size() == 1 ? to_json(plan.layers.front()) : nlohmann::json::object();
    json["recovery"] = plan.recovery.probability;
    json["recovery_method"] = to_string(plan.recovery.method);
    json["recovery_error"] = plan.recovery.error;
    json["recovery_says"] = recovery_sentence(plan);
    json["min_replicas_used"] = least;
    json["placement"] = to_string(plan.layers.front().request.policy);
    json["layers"] = std::move(layers);
    if (plan.mro && plan.layers.size() > 1) {
        json["recovery_mro"] = plan.mro->probability;
        json["recovery_spread"] = plan.spread->probability;
    }
    return json;
}

std::string how_found(const RecoveryCurve& curve) {
    return curve.method == RecoveryMethod::exact
               ? "exact"
               : fmt::format("Monte Carlo, within {:.4f} at 95 %", curve.error);
}

}  // namespace assay::lazarus
