#include "impls/lazarus/layer_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

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
void write_recovery(const RecoveryCurve& curve, fmt::memory_buffer& out) {
    fmt::format_to(std::back_inserter(out), "\n{:>11}  {}\n", "lost nodes",
                   "P(every expert survives)");
    const std::size_t last = curve.probability.size() - 1;
    for (std::size_t k = 0; k <= last;) {
        fmt::format_to(std::back_inserter(out), "{:>11}  {:.6f}\n", k, curve.probability[k]);
        const std::size_t step = last <= 32 ? 1 : std::max<std::size_t>(1, k / 4);
        if (k == last) break;
        k = std::min(k + step, last);
    }
    if (curve.method == RecoveryMethod::exact) {
        fmt::format_to(std::back_inserter(out), "exact\n");
    } else {
        fmt::format_to(std::back_inserter(out), "Monte Carlo, within {:.4f} at 95 %\n",
                       curve.error);
    }
}

}  // namespace

LayerPlan plan_layer(LayerPlanRequest request) {
    check_range(request);
    LayerPlan plan;
    plan.allocation = allocate(request.loads, request.nodes, request.slots, request.min_replicas);
    const Replicas& replicas = plan.allocation.replicas;
    plan.placement = place(request.policy, replicas, request.nodes, request.slots, request.loads);
    RecoveryOptions options;
    options.seed = request.seed;
    options.samples = samples_for(request.nodes);
    plan.recovery =
        recovery_probability(plan.placement, static_cast<int>(replicas.size()), options);
    plan.last_group_cut = request.policy == PlacementPolicy::mro &&
                          mro_truncated(replicas, request.nodes, request.slots);
    plan.request = std::move(request);
    return plan;
}

nlohmann::json to_json(const LayerPlan& plan) {
    return {{"replicas", plan.allocation.replicas},
            {"nodes", plan.placement},
            {"recovery", plan.recovery.probability},
            {"recovery_method", to_string(plan.recovery.method)},
            {"recovery_error", plan.recovery.error},
            {"min_replicas_used", plan.allocation.min_replicas_used},
            {"placement", to_string(plan.request.policy)}};
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
                       "with --placement "
                       "spread, which may recover more often here\n");
    }
    write_experts(plan, out);
    write_nodes(plan, out);
    write_recovery(plan.recovery, out);
    return fmt::to_string(out);
}

}  // namespace assay::lazarus
