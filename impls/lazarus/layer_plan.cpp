#include "impls/lazarus/layer_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/exact_survivors.hpp"
#include "impls/lazarus/policy/placement.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lazarus {
namespace {

constexpr int most_nodes = 65536, most_slots = 1024;
constexpr std::size_t most_experts = 16384;

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

std::vector<int> distinct(std::vector<int> experts) {
    experts.erase(std::unique(experts.begin(), experts.end()), experts.end());
    return experts;
}

void write_experts(const LayerPlan& plan, fmt::memory_buffer& out) {
    std::vector<int> nodes_with(plan.allocation.replicas.size(), 0);
    for (const auto& node : plan.placement) {
        for (int e : distinct(node)) ++nodes_with[static_cast<std::size_t>(e)];
    }
    fmt::format_to(std::back_inserter(out), "\n{:>6}  {:>19}  {:>8}  {:>5}\n", "expert", "load",
                   "replicas", "nodes");
    for (std::size_t e = 0; e < nodes_with.size(); ++e) {
        fmt::format_to(std::back_inserter(out), "{:>6}  {:>19}  {:>8}  {:>5}\n", e,
                       plan.request.loads[e], plan.allocation.replicas[e], nodes_with[e]);
    }
}

void write_nodes(const LayerPlan& plan, fmt::memory_buffer& out) {
    fmt::format_to(std::back_inserter(out), "\n{:>11}  experts\n", "node");
    for (std::size_t first = 0; first < plan.placement.size();) {
        std::size_t last = first;
        while (last + 1 < plan.placement.size() &&
               plan.placement[last + 1] == plan.placement[first])
            ++last;
        const std::string range =
            first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
        fmt::format_to(std::back_inserter(out), "{:>11}  {}\n", range,
                       fmt::join(plan.placement[first], " "));
        first = last + 1;
    }
}

// Every row of a short curve; about 32 rows of a long one, the first ones close together.
std::vector<std::size_t> rows_shown(std::size_t last) {
    std::vector<std::size_t> rows;
    for (std::size_t k = 0; k < last;) {
        rows.push_back(k);
        k += last <= 32 ? 1 : std::max<std::size_t>(1, k / 4);
    }
    rows.push_back(last);
    return rows;
}

std::string how_found(const RecoveryCurve& curve) {
    return curve.method == RecoveryMethod::exact
               ? "exact"
               : fmt::format("Monte Carlo, within {:.4f} at 95 %", curve.error);
}

void write_recovery(const RecoveryCurve& curve, fmt::memory_buffer& out) {
    fmt::format_to(std::back_inserter(out), "\n{:>11}  {}\n", "lost nodes",
                   "P(every expert survives)");
    for (std::size_t k : rows_shown(curve.probability.size() - 1))
        fmt::format_to(std::back_inserter(out), "{:>11}  {:.6f}\n", k, curve.probability[k]);
    fmt::format_to(std::back_inserter(out), "{}\n", how_found(curve));
}

std::string_view guarded_sentence(const LayerPlan& plan) {
    const GuardedComparison& guarded = *plan.guarded;
    if (!guarded.last_group_cut) {
        return "every group of experts gets all its nodes, so mro is optimal and kept: never worse "
               "than mro or spread, however many nodes are lost";
    }
    if (guarded.dominates) {
        return guarded.source == GuardedSource::mro
                   ? "mro's last group of experts is cut short, but no better plan was found than "
                     "mro, which is never worse than spread, however many nodes are lost"
                   : "mro's last group of experts is cut short; this plan repairs it and is never "
                     "worse than mro or spread, however many nodes are lost";
    }
    return plan.request.nodes > most_masked_nodes
               ? "mro's last group of experts is cut short, and plans on so many nodes are not "
                 "compared: this is mro, which may be worse than spread"
               : "mro's last group of experts is cut short; this plan is never worse than mro, but "
                 "not shown to be never worse than spread";
}

void write_comparison(const LayerPlan& plan, fmt::memory_buffer& out) {
    const GuardedComparison& guarded = *plan.guarded;
    fmt::format_to(std::back_inserter(out),
                   "\n{:>11}  P(every expert survives)\n{:>11}  {:>11}  {:>8}  {:>8}\n", "",
                   "lost nodes", "mro_guarded", "mro", "spread");
    for (std::size_t k : rows_shown(plan.recovery.probability.size() - 1)) {
        fmt::format_to(std::back_inserter(out), "{:>11}  {:>11.6f}  {:>8.6f}  {:>8.6f}\n", k,
                       plan.recovery.probability[k], guarded.mro.probability[k],
                       guarded.spread.probability[k]);
    }
    fmt::format_to(std::back_inserter(out), "mro_guarded {}; mro {}; spread {}\n{}\n",
                   how_found(plan.recovery), how_found(guarded.mro), how_found(guarded.spread),
                   guarded_sentence(plan));
}

}  // namespace

LayerPlan plan_layer(LayerPlanRequest request) {
    check_range(request);
    LayerPlan plan;
    plan.allocation = allocate(request.loads, request.nodes, request.slots, request.min_replicas);
    const Replicas& replicas = plan.allocation.replicas;
    const auto experts = static_cast<int>(replicas.size());
    RecoveryOptions options;
    options.seed = request.seed;
    options.samples = samples_for(request.nodes);
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

std::string to_text(const LayerPlan& plan) {
    const LayerPlanRequest& request = plan.request;
    fmt::memory_buffer out;
    fmt::format_to(std::back_inserter(out),
                   "{} experts on {} nodes with {} slots each, placement {}\n",
                   request.loads.size(), request.nodes, request.slots, to_string(request.policy));
    if (plan.allocation.min_replicas_used < request.min_replicas) {
        fmt::format_to(std::back_inserter(out),
                       "note: slots suffice for {} replicas of every expert, not for {}\n",
                       plan.allocation.min_replicas_used, request.min_replicas);
    }
    if (plan.last_group_cut) {
        fmt::format_to(std::back_inserter(out),
                       "note: the nodes did not suffice for the last group of experts; compare "
                       "with --placement spread, which may recover more often here, or take "
                       "--placement mro_guarded\n");
    }
    write_experts(plan, out);
    write_nodes(plan, out);
    plan.guarded ? write_comparison(plan, out) : write_recovery(plan.recovery, out);
    return fmt::to_string(out);
}

}  // namespace assay::lazarus
