#include "impls/lazarus/cost/recovery_cost.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "impls/lazarus/cost/ranks_of_nodes.hpp"

namespace assay::lazarus {
namespace {

double expert_bytes(const Modelling& modelling) {
    return ModelledModel::state_bytes * modelling.model.expert_parameters() *
           modelling.layers_per_layer();
}

double dense_bytes(const Modelling& modelling) {
    return ModelledModel::state_bytes * modelling.model.dense_parameters();
}

/// What every worker is to hold.
std::vector<double> held_bytes(const Modelling& modelling, const Reconfigure& plan) {
    std::vector<double> bytes(plan.training.size(), dense_bytes(modelling));
    for (const auto& layer : plan.holders) {
        for (std::size_t worker = 0; worker < layer.size(); ++worker) {
            auto held = layer[worker];
            held.erase(std::unique(held.begin(), held.end()), held.end());
            bytes[worker] += double(held.size()) * expert_bytes(modelling);
        }
    }
    return bytes;
}

double restored_s(const CostModel& costs, const Modelling& modelling, const Reconfigure& plan) {
    const auto held = held_bytes(modelling, plan);
    if (modelling.each_reads_its_own)
        return costs.storage(std::accumulate(held.begin(), held.end(), 0.0));
    // Chains of copies run as fast as the one that receives most, through all its interfaces.
    const auto& cluster = costs.cluster();
    const double per_gpu = *std::max_element(held.begin(), held.end()) / modelling.gpus_per_worker;
    return costs.storage(ModelledModel::state_bytes * modelling.model.parameters()) +
           per_gpu / reached(cluster.link_bandwidth, cluster.link_efficiency);
}

double moved_s(const CostModel& costs, const Modelling& modelling, const Reconfigure& plan) {
    if (plan.transfers.empty() && plan.need_dense.empty()) return 0;
    const int gpus = modelling.gpus_per_worker;
    const auto network = network_of_workers(costs, plan.members, gpus);
    const int ranks = static_cast<int>(plan.members.size()) * gpus;
    const RankSites sites = network->topology().sites(ranks);
    std::map<Worker, int> first_rank;
    for (Worker worker : plan.members)
        first_rank.emplace(worker, static_cast<int>(first_rank.size()) * gpus);
    struct Message {
        int from, to;
        double bytes;
    };
    std::vector<Message> messages;
    // GPUs of two nodes move equal parts side by side, each through its own interface.
    const auto move = [&](Worker from, Worker to, double bytes) {
        for (int gpu = 0; gpu < gpus; ++gpu)
            messages.push_back({first_rank.at(from) + gpu, first_rank.at(to) + gpu, bytes / gpus});
    };
    for (const auto& one : plan.transfers) move(one.from, one.to, expert_bytes(modelling));
    for (std::size_t i = 0; i < plan.need_dense.size(); ++i)
        move(plan.dense_sources.at(i), plan.need_dense[i], dense_bytes(modelling));

    Exchange exchange{
        std::vector<RankTraffic>(std::size_t(ranks)), [&] {
            std::vector<double> bytes(std::size_t(ranks) * std::size_t(ranks), 0);
            for (const Message& one : messages)
                bytes[std::size_t(one.from) * std::size_t(ranks) + std::size_t(one.to)] +=
                    one.bytes;
            return bytes;
        }};
    for (const Message& one : messages)
        add_message(exchange.ranks, sites, one.from, one.to, one.bytes);
    return network->all_to_all(exchange);
}

}  // namespace

ReconfigurationCost reconfiguration_cost(const CostModel& costs, const Modelling& modelling,
                                         const Reconfigure& plan, bool after_death,
                                         double relaunch_s) {
    const auto& cluster = costs.cluster();
    ReconfigurationCost cost;
    if (after_death) cost.detect_s = cluster.detect_s.value;
    if (plan.restore_step) {
        cost.regroup_s = relaunch_s >= 0 ? relaunch_s : cluster.relaunch_s.value;
        cost.transfer_s = restored_s(costs, modelling, plan);
    } else {
        cost.regroup_s = cluster.regroup_s.value;
        cost.transfer_s = moved_s(costs, modelling, plan);
    }
    return cost;
}

double checkpoint_cost(const CostModel& costs, const Modelling& modelling) {
    return costs.storage(ModelledModel::state_bytes * modelling.model.parameters());
}

}  // namespace assay::lazarus
