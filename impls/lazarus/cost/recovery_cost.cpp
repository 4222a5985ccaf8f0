#include "impls/lazarus/cost/recovery_cost.hpp"

#include <algorithm>
#include <map>

namespace assay::lazarus {
namespace {

double expert_bytes(const Modelling& modelling) {
    return ModelledModel::state_bytes * modelling.model.expert_parameters() *
           modelling.layers_per_layer();
}

double dense_bytes(const Modelling& modelling) {
    return ModelledModel::state_bytes * modelling.model.dense_parameters();
}

double loaded_bytes(const Modelling& modelling, const Reconfigure& plan) {
    double bytes = double(plan.training.size()) * dense_bytes(modelling);
    for (const auto& layer : plan.holders) {
        for (auto held : layer) {
            held.erase(std::unique(held.begin(), held.end()), held.end());
            bytes += double(held.size()) * expert_bytes(modelling);
        }
    }
    return bytes;
}

double moved_s(const CostModel& costs, const Modelling& modelling, const Reconfigure& plan) {
    if (plan.transfers.empty() && plan.need_dense.empty()) return 0;
    std::map<Worker, std::size_t> rank;
    for (Worker worker : plan.members) rank.emplace(worker, rank.size());
    std::vector<double> bytes(rank.size() * rank.size(), 0);
    for (const auto& one : plan.transfers)
        bytes[rank.at(one.from) * rank.size() + rank.at(one.to)] += expert_bytes(modelling);
    for (std::size_t i = 0; i < plan.need_dense.size(); ++i)
        bytes[rank.at(plan.dense_sources.at(i)) * rank.size() + rank.at(plan.need_dense[i])] +=
            dense_bytes(modelling);
    return costs.all_to_all(bytes, static_cast<int>(rank.size()));
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
        cost.transfer_s = costs.storage(loaded_bytes(modelling, plan));
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
