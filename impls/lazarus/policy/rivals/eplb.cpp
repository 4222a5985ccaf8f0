#include "impls/lazarus/policy/rivals/eplb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

/// As many items in each pack, [pack] → items in the order in which they came.
std::vector<std::vector<int>> pack(const std::vector<double>& weights, int packs) {
    std::vector<int> heaviest_first(weights.size());
    std::iota(heaviest_first.begin(), heaviest_first.end(), 0);
    std::stable_sort(heaviest_first.begin(), heaviest_first.end(),
                     [&](int a, int b) { return weights[nth(a)] > weights[nth(b)]; });
    const std::size_t room = weights.size() / nth(packs);
    std::vector<std::vector<int>> packed(nth(packs));
    if (room == 1) {  // nothing to balance
        for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = {static_cast<int>(i)};
        return packed;
    }
    std::vector<double> sums(nth(packs), 0);
    for (int item : heaviest_first) {
        std::size_t lightest = sums.size();
        for (std::size_t one = 0; one < sums.size(); ++one) {
            if (packed[one].size() == room) continue;
            if (lightest == sums.size() || sums[one] < sums[lightest]) lightest = one;
        }
        packed[lightest].push_back(item);
        sums[lightest] += weights[nth(item)];
    }
    return packed;
}

/// The expert of each replica: one each, then the further ones.
std::vector<int> replicate(const std::vector<double>& loads, int replicas,
                           std::vector<int>& count) {
    std::vector<int> expert_of(loads.size());
    std::iota(expert_of.begin(), expert_of.end(), 0);
    count.assign(loads.size(), 1);
    while (static_cast<int>(expert_of.size()) < replicas) {
        std::size_t most = 0;
        for (std::size_t e = 1; e < loads.size(); ++e) {
            if (loads[e] / count[e] > loads[most] / count[most]) most = e;
        }
        ++count[most];
        expert_of.push_back(static_cast<int>(most));
    }
    return expert_of;
}

void check(std::span<const Tokens> loads, const EplbMachine& machine) {
    const auto experts = static_cast<long long>(loads.size());
    if (experts < 1 || machine.gpus < 1 || machine.slots < 1 || machine.nodes < 1 ||
        machine.groups < 1)
        throw UserError("eplb: at least one each of experts, GPUs, slots, nodes and groups");
    if (static_cast<long long>(machine.gpus) * machine.slots < experts) {
        throw UserError(fmt::format("eplb: {} GPUs with {} slots cannot hold {} experts",
                                    machine.gpus, machine.slots, experts));
    }
    for (std::size_t e = 0; e < loads.size(); ++e) {
        if (loads[e] < 0)
            throw UserError(fmt::format("eplb: expert {} has {} tokens", e, loads[e]));
    }
}

}  // namespace

Placement place_eplb(std::span<const Tokens> loads, const EplbMachine& machine) {
    check(loads, machine);
    const bool global = machine.groups % machine.nodes != 0;
    const int nodes = global ? 1 : machine.nodes;
    const int groups = global ? 1 : machine.groups;
    const auto experts = static_cast<int>(loads.size());
    if (experts % groups != 0 || machine.gpus % nodes != 0) {
        throw UserError(
            fmt::format("eplb: {} groups of {} experts on {} GPUs of {} nodes are not "
                        "of one size",
                        groups, experts, machine.gpus, nodes));
    }
    const int of_group = experts / groups;
    std::vector<double> group_loads(nth(groups), 0);
    for (int e = 0; e < experts; ++e)
        group_loads[nth(e / of_group)] += static_cast<double>(loads[nth(e)]);

    Placement placement;
    for (const std::vector<int>& of_node : pack(group_loads, nodes)) {
        std::vector<int> here;
        for (int group : of_node) {
            for (int e = group * of_group; e < (group + 1) * of_group; ++e) here.push_back(e);
        }
        std::vector<double> loads_here;
        for (int e : here) loads_here.push_back(static_cast<double>(loads[nth(e)]));
        const int gpus = machine.gpus / nodes;
        std::vector<int> count;
        const std::vector<int> expert_of = replicate(loads_here, gpus * machine.slots, count);
        std::vector<double> weights;
        for (int e : expert_of) weights.push_back(loads_here[nth(e)] / count[nth(e)]);
        for (const std::vector<int>& of_gpu : pack(weights, gpus)) {
            auto& slots = placement.emplace_back();
            for (int replica : of_gpu) slots.push_back(here[nth(expert_of[nth(replica)])]);
        }
    }
    return placement;
}

ModelPlacement EplbStrategy::plan(const std::vector<Loads>& loads, int nodes) const {
    ModelPlacement plan;
    for (Loads layer : loads) {
        const bool seen = std::any_of(layer.begin(), layer.end(), [](Tokens t) { return t > 0; });
        if (!seen) std::fill(layer.begin(), layer.end(), 1);  // no step yet: every expert alike
        Placement placement = place_eplb(layer, {.gpus = nodes, .slots = config().slots});
        for (std::vector<int>& slots : placement) std::sort(slots.begin(), slots.end());
        plan.push_back(std::move(placement));
    }
    return plan;
}

}  // namespace assay::lazarus
