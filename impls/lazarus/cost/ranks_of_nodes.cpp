#include "impls/lazarus/cost/ranks_of_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "impls/lazarus/policy/plan/within_node.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

/// Tokens that one replica of each expert gets; of equal loads a share of one.
std::vector<double> load_of_replicas(const Placement& holders, const Loads& loads) {
    std::vector<double> replicas(loads.size(), 0), load(loads.begin(), loads.end());
    if (std::all_of(load.begin(), load.end(), [](double one) { return one == 0; }))
        std::fill(load.begin(), load.end(), 1);
    for (const auto& held : holders)
        for (const int expert : held) ++replicas[nth(expert)];
    for (std::size_t e = 0; e < load.size(); ++e) load[e] /= std::max(1.0, replicas[e]);
    return load;
}

}  // namespace

std::vector<int> seats_of(const std::vector<Worker>& workers, int places) {
    if (static_cast<int>(workers.size()) > places)
        throw UserError(fmt::format(
            "{} workers, and the cluster's network has room for {}: add nodes to it, or ask for "
            "fewer",
            workers.size(), places));
    std::vector<Worker> own;
    for (const Worker worker : workers)
        if (worker < places) own.push_back(worker);
    std::sort(own.begin(), own.end());
    std::vector<int> seats;
    int free = 0;
    for (const Worker worker : workers) {
        if (worker < places) {
            seats.push_back(worker);
            continue;
        }
        while (std::binary_search(own.begin(), own.end(), free)) ++free;
        seats.push_back(free++);
    }
    return seats;
}

namespace {

/// [worker · gpus + gpu] places on a cluster's network, where nodes are its blocks of `gpus`.
std::vector<int> places_of(const Topology& topology, const std::vector<Worker>& workers, int gpus) {
    std::vector<int> places;
    for (const int seat : seats_of(workers, topology.ranks() / gpus)) {
        for (int gpu = 0; gpu < gpus; ++gpu) {
            places.push_back(seat * gpus + gpu);
            if (topology.place(places.back()).node != topology.place(seat * gpus).node)
                throw UserError(fmt::format(
                    "workers of {} GPUs each, and rank {} of the cluster's network is on another "
                    "node than rank {}: give the profile nodes with {} ranks",
                    gpus, places.back(), seat * gpus, gpus));
        }
    }
    return places;
}

}  // namespace

std::shared_ptr<const Network> network_of_workers(const CostModel& costs,
                                                  const std::vector<Worker>& workers, int gpus) {
    const Topology& topology = costs.network().topology();
    if (topology.any_number()) return costs.shared_network();
    return costs.network().among(places_of(topology, workers, gpus));
}

StepParticipants participants_of(const Reconfigure& plan, const std::vector<double>& slowdowns,
                                 const std::vector<Loads>& loads, const CostModel& costs,
                                 const Modelling& modelling) {
    const int gpus = modelling.gpus_per_worker;
    if (gpus == 1) return {plan.training, slowdowns, plan.holders};
    const Topology& topology = costs.network().topology();
    const bool in_blocks = modelling.dispatch.group > 0 || modelling.deal == Deal::blocks;
    StepParticipants ranks;
    if (!topology.any_number()) ranks.devices = places_of(topology, plan.training, gpus);
    for (std::size_t i = 0; i < plan.training.size(); ++i) {
        for (int gpu = 0; gpu < gpus; ++gpu) {
            if (topology.any_number()) ranks.devices.push_back(plan.training[i] * gpus + gpu);
            ranks.slowdowns.push_back(slowdowns[i]);
        }
    }
    for (std::size_t layer = 0; layer < plan.holders.size(); ++layer) {
        const Placement& holders = plan.holders[layer];
        const auto load = load_of_replicas(holders, loads.at(layer));
        Placement& dealt = ranks.holders.emplace_back();
        for (const std::vector<int>& held : holders)
            for (auto& one :
                 in_blocks ? deal_in_blocks(held, gpus) : deal_by_load(held, load, gpus))
                dealt.push_back(std::move(one));
    }
    return ranks;
}

}  // namespace assay::lazarus
