// What `assay plan lazarus` prints for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "impls/lazarus/commands/layer_plan.hpp"
#include "impls/lazarus/policy/beyond/plan_quality.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

constexpr std::size_t most_experts_in_a_row = 64;
constexpr int most_nodes_to_run = 64, most_slots_to_run = 64;  // of lazarus/fig9

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

void write_notes(const LayerPlan& plan, fmt::memory_buffer& out) {
    if (plan.allocation.min_replicas_used < plan.request.min_replicas) {
        fmt::format_to(std::back_inserter(out),
                       "note: slots suffice for {} replicas of every expert, not for {}\n",
                       plan.allocation.min_replicas_used, plan.request.min_replicas);
    }
    if (plan.last_group_cut) {
        fmt::format_to(std::back_inserter(out),
                       "note: the nodes did not suffice for the last group of experts; compare "
                       "with --placement spread, which may recover more often here, or take "
                       "--placement mro_guarded\n");
    }
}

Tokens hottest(const Loads& loads) { return *std::max_element(loads.begin(), loads.end()); }

double tokens(const Loads& loads) {
    double sum = 0;
    for (Tokens t : loads) sum += static_cast<double>(t);
    return sum;
}

// Losses that are shown for each layer.
std::size_t few_losses(const JobPlan& plan) {
    return std::min<std::size_t>(4, plan.recovery.probability.size() - 1);
}

void write_layers(const JobPlan& plan, fmt::memory_buffer& out) {
    const auto to = std::back_inserter(out);
    fmt::format_to(to, "\n{:>32}  P(every expert of the layer survives)\n", "");
    fmt::format_to(to, "{:>5}  {:>12}  {:>7}  {:>8}", "layer", "tokens", "hottest", "replicas");
    for (std::size_t k = 1; k <= few_losses(plan); ++k)
        fmt::format_to(to, "  {:>8}", fmt::format("{} lost", k));
    fmt::format_to(to, "\n");
    for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
        const LayerPlan& one = plan.layers[layer];
        const double all = tokens(one.request.loads);
        const auto [few, many] =
            std::minmax_element(one.allocation.replicas.begin(), one.allocation.replicas.end());
        fmt::format_to(
            to, "{:>5}  {:>12.0f}  {:>7}  {:>8}", layer, all,
            all > 0 ? fmt::format("{:.1f} %",
                                  100 * static_cast<double>(hottest(one.request.loads)) / all)
                    : "–",
            fmt::format("{} to {}", *few, *many));
        for (std::size_t k = 1; k <= few_losses(plan); ++k)
            fmt::format_to(to, "  {:.6f}", one.recovery.probability[k]);
        fmt::format_to(to, "\n");
    }
}

void write_replicas(const JobPlan& plan, fmt::memory_buffer& out) {
    const auto to = std::back_inserter(out);
    if (plan.layers.front().request.loads.size() > most_experts_in_a_row) return;
    fmt::format_to(to, "\n{:>5}  replicas of expert 0, 1, …\n", "layer");
    for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
        fmt::format_to(to, "{:>5}  {}\n", layer,
                       fmt::join(plan.layers[layer].allocation.replicas, " "));
}

// The least probability of any layer, for each number of lost nodes.
std::vector<double> weakest(const JobPlan& plan) {
    std::vector<double> least(plan.recovery.probability.size(), 1);
    for (const LayerPlan& layer : plan.layers)
        for (std::size_t k = 0; k < least.size(); ++k)
            least[k] = std::min(least[k], layer.recovery.probability[k]);
    return least;
}

void write_joint(const JobPlan& plan, fmt::memory_buffer& out) {
    const auto to = std::back_inserter(out);
    const std::vector<double> least = weakest(plan);
    fmt::format_to(to, "\n{:>11}  P(every expert of every layer survives)\n", "");
    fmt::format_to(to, "{:>11}  {:>10}  {:>13}", "lost nodes", "all layers", "weakest layer");
    if (plan.mro) fmt::format_to(to, "  {:>12}  {:>12}", "all: mro", "all: spread");
    fmt::format_to(to, "\n");
    for (std::size_t k : rows_shown(least.size() - 1)) {
        fmt::format_to(to, "{:>11}  {:>10.6f}  {:>13.6f}", k, plan.recovery.probability[k],
                       least[k]);
        if (plan.mro)
            fmt::format_to(to, "  {:>12.6f}  {:>12.6f}", plan.mro->probability[k],
                           plan.spread->probability[k]);
        fmt::format_to(to, "\n");
    }
    fmt::format_to(to, "all layers: {}", how_found(plan.recovery));
    if (plan.mro)
        fmt::format_to(to, "; mro: {}; spread: {}", how_found(*plan.mro), how_found(*plan.spread));
    fmt::format_to(to, "\n");
    if (!plan.mro) return;
    const auto dominating =
        std::count_if(plan.layers.begin(), plan.layers.end(),
                      [](const LayerPlan& layer) { return layer.guarded->dominates; });
    fmt::format_to(to,
                   "{} of {} layers' plans are shown to be never worse than mro and spread, each "
                   "layer by itself; all layers together: compare the columns\n",
                   dominating, plan.layers.size());
    // Overlap lays the groups of all layers on the same nodes; a repair of single layers need not.
    for (std::size_t k = 0; k < least.size(); ++k)
        if (plan.recovery.probability[k] + plan.recovery.error + plan.mro->error + 1e-9 <
            plan.mro->probability[k]) {
            fmt::format_to(
                to,
                "note: all layers together recover less often than with mro (first at {} "
                "lost nodes): take --placement mro\n",
                k);
            return;
        }
}

void write_meaning(const JobPlan& plan, fmt::memory_buffer& out) {
    const auto to = std::back_inserter(out);
    fmt::format_to(to,
                   "\nload: tokens routed to an expert. replica: one slot of a node that holds the "
                   "expert.\nP: share of all sets of so many lost nodes after which each expert "
                   "still has a replica, so that\ntraining goes on without a checkpoint.\n");
    if (plan.layers.size() > 1)
        fmt::format_to(to,
                       "All layers: node i is the same machine in every layer, so one loss strikes "
                       "them all at once;\nthis is not the product of the layers' "
                       "probabilities.\n");
}

// A training of the paper on as many nodes and slots; nothing where lazarus/fig9 has no such one.
void write_next(const JobPlan& plan, fmt::memory_buffer& out) {
    const auto to = std::back_inserter(out);
    const LayerPlanRequest& request = plan.layers.front().request;
    fmt::format_to(to, "\nNext\n");
    if (plan.layers.size() > 1)
        fmt::format_to(to,
                       "  the same command with --layer 0, which node holds which expert; or with "
                       "--json, everything\n");
    fmt::format_to(to,
                   "  assay plan trace --generate poisson --hours 2 --nodes {} --map min --out "
                   "nodes.toml\n"
                   "      nodes that come and go, and the command that trains on them\n",
                   std::min(request.nodes, most_nodes_to_run));
    const bool known =
        request.policy == PlacementPolicy::mro || request.policy == PlacementPolicy::mro_guarded;
    if (!known || request.nodes < 4 || request.nodes > most_nodes_to_run ||
        request.slots > most_slots_to_run || request.nodes * request.slots < 8)
        return;
    fmt::format_to(to,
                   "  assay run lazarus/fig9 -a model=gpt-s -a relaunch_s=60 -a nodes={} -a "
                   "slots={} -a placement={} --variant lazarus,ds\n"
                   "      a paced training of the paper's smallest model with such nodes, 80 "
                   "minutes of a spot trace\n",
                   request.nodes, request.slots, to_string(request.policy));
}

}  // namespace

std::string to_text(const LayerPlan& plan) {
    const LayerPlanRequest& request = plan.request;
    fmt::memory_buffer out;
    fmt::format_to(std::back_inserter(out),
                   "{} experts on {} nodes with {} slots each, placement {}\n",
                   request.loads.size(), request.nodes, request.slots, to_string(request.policy));
    write_notes(plan, out);
    write_experts(plan, out);
    write_nodes(plan, out);
    plan.guarded ? write_comparison(plan, out) : write_recovery(plan.recovery, out);
    return fmt::to_string(out);
}

std::string to_text(const JobPlan& plan, std::size_t layer) {
    if (layer >= plan.layers.size())
        throw UserError(fmt::format("--layer {}: the loads have {} layer{}, counted from 0", layer,
                                    plan.layers.size(), plan.layers.size() == 1 ? "" : "s"));
    fmt::memory_buffer out;
    fmt::format_to(std::back_inserter(out), "Layer {} of {}: {}", layer, plan.layers.size(),
                   to_text(plan.layers[layer]));
    write_meaning(plan, out);
    return fmt::to_string(out);
}

std::string to_text(const JobPlan& plan) {
    fmt::memory_buffer out;
    const auto to = std::back_inserter(out);
    const LayerPlan& first = plan.layers.front();
    if (plan.layers.size() == 1) {
        fmt::format_to(to, "{}", to_text(first));
    } else {
        fmt::format_to(
            to, "{} layers of {} experts on {} nodes with {} slots each per layer, placement {}\n",
            plan.layers.size(), first.request.loads.size(), first.request.nodes,
            first.request.slots, to_string(first.request.policy));
        // How far slots suffice is the same for every layer.
        const auto cut = std::find_if(plan.layers.begin(), plan.layers.end(),
                                      [](const LayerPlan& one) { return one.last_group_cut; });
        write_notes(cut == plan.layers.end() ? first : *cut, out);
        write_layers(plan, out);
        write_replicas(plan, out);
        write_joint(plan, out);
    }
    write_meaning(plan, out);
    write_next(plan, out);
    return fmt::to_string(out);
}

}  // namespace assay::lazarus
