#include "impls/lazarus/commands/layer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
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
    if (policy == plan.layers.front().request.policy) return plan.recovery;
    ModelPlacement placement;
    for (const LayerPlan& layer : plan.layers)
        placement.push_back(place(policy, layer.allocation.replicas, layer.request.nodes,
                                  layer.request.slots, layer.request.loads));
    return of_all_layers(placement, plan);
}

// Whether there is a choice between mro and mro_guarded, which on more nodes is mro.
bool asks_for_advice(const JobPlan& plan) {
    const LayerPlanRequest& request = plan.layers.front().request;
    if (request.policy == PlacementPolicy::mro_guarded) return true;
    return request.nodes <= most_masked_nodes &&
           std::any_of(plan.layers.begin(), plan.layers.end(),
                       [](const LayerPlan& layer) { return layer.last_group_cut; });
}

// The fewest lost nodes after which `one` recovers more often, by more than their errors.
std::optional<std::size_t> first_better(const RecoveryCurve& one, const RecoveryCurve& other) {
    for (std::size_t k = 0; k < one.probability.size(); ++k)
        if (one.probability[k] > other.probability[k] + one.error + other.error + 1e-9) return k;
    return std::nullopt;
}

std::string at_losses(std::size_t k, const RecoveryCurve& one, const RecoveryCurve& other) {
    return fmt::format("{:.6f} against {:.6f} after the loss of {} node{}", one.probability[k],
                       other.probability[k], k, k == 1 ? "" : "s");
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
    if (asks_for_advice(plan)) {
        plan.mro = placed_by(PlacementPolicy::mro, plan);
        plan.guarded = placed_by(PlacementPolicy::mro_guarded, plan);
        plan.spread = placed_by(PlacementPolicy::spread, plan);
    }
    return plan;
}

std::optional<Advice> advice(const JobPlan& plan) {
    if (!plan.mro || !plan.guarded) return std::nullopt;
    const auto of_mro = first_better(*plan.mro, *plan.guarded),
               of_guarded = first_better(*plan.guarded, *plan.mro);
    const bool guard = of_guarded && (!of_mro || *of_guarded < *of_mro);
    const PlacementPolicy take = guard ? PlacementPolicy::mro_guarded : PlacementPolicy::mro,
                          leave = guard ? PlacementPolicy::mro : PlacementPolicy::mro_guarded;
    const RecoveryCurve &taken = guard ? *plan.guarded : *plan.mro,
                        &left = guard ? *plan.mro : *plan.guarded;
    const std::string together = plan.layers.size() == 1 ? "" : ", all layers together";
    Advice found{take, {}};
    if (!of_mro && !of_guarded) found.take = plan.layers.front().request.policy;
    if (const auto k = first_better(taken, left))
        found.why = fmt::format("{} recovers more often than {}{}: {}", to_string(take),
                                to_string(leave), together, at_losses(*k, taken, left));
    else
        found.why = fmt::format("mro and mro_guarded recover alike{}, however many nodes are lost",
                                together);
    if (const auto k = first_better(left, taken))
        found.why += fmt::format("; {} is better only when more are lost: {}", to_string(leave),
                                 at_losses(*k, left, taken));
    if (const auto k = first_better(*plan.spread, taken))
        found.why += "; spread is better at times: " + at_losses(*k, *plan.spread, taken);
    return found;
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
    if (const auto advised = advice(plan))
        json["advice"] = {{"take", to_string(advised->take)}, {"why", advised->why}};
    if (plan.mro && plan.layers.size() > 1) {
        json["recovery_mro"] = plan.mro->probability;
        json["recovery_mro_guarded"] = plan.guarded->probability;
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
