// What `assay plan lazarus` prints for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/commands/layer_plan.hpp"
#include "impls/lazarus/policy/beyond/plan_quality.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/report/text/text_page.hpp"

namespace assay::lazarus {
namespace {

constexpr std::size_t most_experts_in_a_row = 64;
constexpr int most_nodes_to_run = 64, most_slots_to_run = 64;  // of lazarus/fig9

using Page = report::TextPage;

std::vector<int> distinct(std::vector<int> experts) {
    experts.erase(std::unique(experts.begin(), experts.end()), experts.end());
    return experts;
}

void write_experts(const LayerPlan& plan, Page& page) {
    std::vector<int> nodes_with(plan.allocation.replicas.size(), 0);
    for (const auto& node : plan.placement) {
        for (int e : distinct(node)) ++nodes_with[static_cast<std::size_t>(e)];
    }
    page.empty_line();
    page.line("{:>6}  {:>19}  {:>8}  {:>5}", "expert", "load", "replicas", "nodes");
    for (std::size_t e = 0; e < nodes_with.size(); ++e)
        page.line("{:>6}  {:>19}  {:>8}  {:>5}", e, plan.request.loads[e],
                  plan.allocation.replicas[e], nodes_with[e]);
}

void write_nodes(const LayerPlan& plan, Page& page) {
    page.empty_line();
    page.line("{:>11}  experts", "node");
    for (std::size_t first = 0; first < plan.placement.size();) {
        std::size_t last = first;
        while (last + 1 < plan.placement.size() &&
               plan.placement[last + 1] == plan.placement[first])
            ++last;
        const std::string range =
            first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
        page.sentence(fmt::format("{}", fmt::join(plan.placement[first], " ")),
                      fmt::format("{:>11}  ", range));
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

void write_recovery(const RecoveryCurve& curve, Page& page) {
    page.empty_line();
    page.line("{:>11}  {}", "lost nodes", "P(every expert survives)");
    for (std::size_t k : rows_shown(curve.probability.size() - 1))
        page.line("{:>11}  {:.6f}", k, curve.probability[k]);
    page.sentence(how_found(curve));
}

std::string guarded_sentence(const LayerPlan& plan) {
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

void write_comparison(const LayerPlan& plan, Page& page) {
    const GuardedComparison& guarded = *plan.guarded;
    page.empty_line();
    page.line("{:>11}  P(every expert survives)", "");
    page.line("{:>11}  {:>11}  {:>8}  {:>8}", "lost nodes", "mro_guarded", "mro", "spread");
    for (std::size_t k : rows_shown(plan.recovery.probability.size() - 1))
        page.line("{:>11}  {:>11.6f}  {:>8.6f}  {:>8.6f}", k, plan.recovery.probability[k],
                  guarded.mro.probability[k], guarded.spread.probability[k]);
    page.sentence(fmt::format("mro_guarded {}; mro {}; spread {}", how_found(plan.recovery),
                              how_found(guarded.mro), how_found(guarded.spread)));
    page.sentence(guarded_sentence(plan));
}

void write_notes(const JobPlan& plan, Page& page) {
    const LayerPlan& first = plan.layers.front();  // how far slots suffice is alike for all layers
    if (first.allocation.min_replicas_used < first.request.min_replicas)
        page.sentence(fmt::format("slots suffice for {} replicas of every expert, not for {}",
                                  first.allocation.min_replicas_used, first.request.min_replicas),
                      "note: ");
    const auto cut = std::count_if(plan.layers.begin(), plan.layers.end(),
                                   [](const LayerPlan& one) { return one.last_group_cut; });
    if (cut == 0) return;
    const std::string where =
        plan.layers.size() == 1 ? "" : fmt::format(" in {} of {} layers", cut, plan.layers.size());
    page.sentence(
        "the nodes did not suffice for the last group of experts" + where +
            (plan.guarded
                 ? ", where mro need not be the best: see \"placement\" below"
                 : fmt::format(", where mro need not be the best; on more than {} nodes no "
                               "other plan is tried: compare with --placement spread",
                               most_masked_nodes)),
        "note: ");
}

// Whether what was chosen is to be kept, and why.
void write_advice(const JobPlan& plan, Page& page) {
    const auto advised = advice(plan);
    if (!advised) return;
    page.empty_line();
    const bool keep = advised->take == plan.layers.front().request.policy;
    page.sentence(fmt::format("{} --placement {}: {}", keep ? "keep" : "take",
                              to_string(advised->take), advised->why),
                  "placement: ");
}

// Losses that are shown for each layer.
std::size_t few_losses(const JobPlan& plan) {
    return std::min<std::size_t>(4, plan.recovery.probability.size() - 1);
}

void write_layers(const JobPlan& plan, Page& page) {
    page.empty_line();
    page.sentence("P(every expert of the layer survives), after the loss of so many nodes");
    report::Grid grid{{"layer", "tokens", "hottest", "replicas"}};
    for (std::size_t k = 1; k <= few_losses(plan); ++k)
        grid[0].push_back(fmt::format("{} lost", k));
    for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
        const LayerPlan& one = plan.layers[layer];
        const Loads& loads = one.request.loads;
        const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
        const auto [few, many] =
            std::minmax_element(one.allocation.replicas.begin(), one.allocation.replicas.end());
        const auto hottest = static_cast<double>(*std::max_element(loads.begin(), loads.end()));
        grid.push_back({std::to_string(layer), fmt::format("{:.0f}", all),
                        all > 0 ? fmt::format("{:.1f} %", 100 * hottest / all) : "–",
                        fmt::format("{} to {}", *few, *many)});
        for (std::size_t k = 1; k <= few_losses(plan); ++k)
            grid.back().push_back(fmt::format("{:.6f}", one.recovery.probability[k]));
    }
    page.table(grid);
}

void write_replicas(const JobPlan& plan, Page& page) {
    if (plan.layers.front().request.loads.size() > most_experts_in_a_row) return;
    page.empty_line();
    page.line("{:>5}  replicas of expert 0, 1, …", "layer");
    for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
        page.sentence(fmt::format("{}", fmt::join(plan.layers[layer].allocation.replicas, " ")),
                      fmt::format("{:>5}  ", layer));
}

// The least probability of any layer, for each number of lost nodes.
std::vector<double> weakest(const JobPlan& plan) {
    std::vector<double> least(plan.recovery.probability.size(), 1);
    for (const LayerPlan& layer : plan.layers)
        for (std::size_t k = 0; k < least.size(); ++k)
            least[k] = std::min(least[k], layer.recovery.probability[k]);
    return least;
}

// The chosen placement, then those that it is compared with.
std::vector<std::pair<std::string, const RecoveryCurve*>> curves_of(const JobPlan& plan) {
    const PlacementPolicy chosen = plan.layers.front().request.policy;
    std::vector<std::pair<std::string, const RecoveryCurve*>> curves{
        {std::string(to_string(chosen)), &plan.recovery}};
    const auto add = [&](PlacementPolicy policy, const std::optional<RecoveryCurve>& curve) {
        if (curve && policy != chosen) curves.emplace_back(to_string(policy), &*curve);
    };
    add(PlacementPolicy::mro, plan.mro);
    add(PlacementPolicy::mro_guarded, plan.guarded);
    add(PlacementPolicy::spread, plan.spread);
    return curves;
}

void write_joint(const JobPlan& plan, Page& page) {
    const auto curves = curves_of(plan);
    const std::vector<double> least = weakest(plan);
    page.empty_line();
    page.sentence("P(every expert of every layer survives), and that of the weakest layer alone");
    report::Grid grid{{"lost nodes"}};
    for (const auto& [name, curve] : curves) grid[0].push_back("all: " + name);
    grid[0].insert(grid[0].begin() + 2, "weakest layer");
    for (const std::size_t k : rows_shown(least.size() - 1)) {
        grid.push_back({std::to_string(k)});
        for (const auto& [name, curve] : curves)
            grid.back().push_back(fmt::format("{:.6f}", curve->probability[k]));
        grid.back().insert(grid.back().begin() + 2, fmt::format("{:.6f}", least[k]));
    }
    page.table(grid);
    std::vector<std::string> found;
    for (const auto& [name, curve] : curves) found.push_back(name + " " + how_found(*curve));
    page.sentence(fmt::format("all layers: {}", fmt::join(found, "; ")));
    if (!plan.layers.front().guarded) return;
    const auto dominating =
        std::count_if(plan.layers.begin(), plan.layers.end(),
                      [](const LayerPlan& layer) { return layer.guarded->dominates; });
    page.sentence(fmt::format(
        "{} of {} layers' plans are shown to be never worse than mro and spread, each layer by "
        "itself; all layers together need not be, since mro lays the groups of all layers on the "
        "same nodes",
        dominating, plan.layers.size()));
}

void write_meaning(const JobPlan& plan, Page& page) {
    page.empty_line();
    page.sentence(
        "load: tokens routed to an expert. replica: one slot of a node that holds the expert.");
    page.sentence(
        "P: share of all sets of so many lost nodes after which each expert still has a replica, "
        "so that training goes on without a checkpoint.");
    if (plan.layers.size() > 1)
        page.sentence(
            "All layers: node i is the same machine in every layer, so one loss strikes them all "
            "at once; this is not the product of the layers' probabilities.");
}

// A training of the paper on as many nodes and slots; nothing where lazarus/fig9 has no such one.
void write_next(const JobPlan& plan, Page& page) {
    const LayerPlanRequest& request = plan.layers.front().request;
    page.empty_line();
    page.line("Next");
    if (plan.layers.size() > 1)
        page.sentence(
            "the same command with --layer 0, which node holds which expert; or with --json, "
            "everything",
            "  ");
    page.line(
        "  assay plan trace --generate poisson --hours 2 --nodes {} --map min --out nodes.toml",
        std::min(request.nodes, most_nodes_to_run));
    page.sentence("nodes that come and go, and the command that trains on them", "      ");
    const bool known =
        request.policy == PlacementPolicy::mro || request.policy == PlacementPolicy::mro_guarded;
    if (!known || request.nodes < 4 || request.nodes > most_nodes_to_run ||
        request.slots > most_slots_to_run || request.nodes * request.slots < 8)
        return;
    page.line(
        "  assay run lazarus/fig9 -a model=gpt-s -a relaunch_s=60 -a nodes={} -a slots={} -a "
        "placement={} --variant lazarus,ds",
        request.nodes, request.slots, to_string(request.policy));
    page.sentence(
        "a paced training of the paper's smallest model with such nodes, 80 minutes of a spot "
        "trace",
        "      ");
}

void write_layer(const LayerPlan& plan, const std::string& head, Page& page) {
    const LayerPlanRequest& request = plan.request;
    page.sentence(fmt::format("{}{} experts on {} nodes with {} slots each, placement {}", head,
                              request.loads.size(), request.nodes, request.slots,
                              to_string(request.policy)));
}

void write_plan(const LayerPlan& plan, Page& page) {
    write_experts(plan, page);
    write_nodes(plan, page);
    plan.guarded ? write_comparison(plan, page) : write_recovery(plan.recovery, page);
}

}  // namespace

std::string to_text(const JobPlan& plan, std::size_t layer, std::size_t columns) {
    Page page(columns);
    write_layer(plan.layers.at(layer), fmt::format("Layer {} of {}: ", layer, plan.layers.size()),
                page);
    write_notes(plan, page);
    write_plan(plan.layers.at(layer), page);
    write_advice(plan, page);
    write_meaning(plan, page);
    return page.text();
}

std::string to_text(const JobPlan& plan, std::size_t columns) {
    Page page(columns);
    const LayerPlan& first = plan.layers.front();
    if (plan.layers.size() == 1) {
        write_layer(first, "", page);
        write_notes(plan, page);
        write_plan(first, page);
    } else {
        page.sentence(fmt::format(
            "{} layers of {} experts on {} nodes with {} slots each per layer, placement {}",
            plan.layers.size(), first.request.loads.size(), first.request.nodes,
            first.request.slots, to_string(first.request.policy)));
        write_notes(plan, page);
        write_layers(plan, page);
        write_replicas(plan, page);
        write_joint(plan, page);
    }
    write_advice(plan, page);
    write_meaning(plan, page);
    write_next(plan, page);
    return page.text();
}

}  // namespace assay::lazarus
