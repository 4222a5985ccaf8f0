#include "impls/dr_post_training/policy/partition.hpp"

#include <map>
#include <utility>

namespace assay::dr_post_training {

std::vector<std::vector<std::size_t>> groups_of(std::span<const Layer> layers,
                                                Partition partition) {
    std::vector<std::vector<std::size_t>> groups;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Layer& layer = layers[i];
        const bool alone = partition == Partition::layer ||
                           (partition != Partition::global && !layer.block) ||
                           (partition == Partition::sublayer && !layer.part);
        if (!alone) {
            std::pair<std::string, std::string> key;
            if (partition != Partition::global) key.first = *layer.block;
            if (partition == Partition::sublayer) key.second = *layer.part;
            const auto [found, is_new] = known.emplace(std::move(key), groups.size());
            if (!is_new) {
                groups[found->second].push_back(i);
                continue;
            }
        }
        groups.push_back({i});
    }
    return groups;
}

GramStatistics statistics_of_group(std::span<const Layer> layers,
                                   std::span<const std::size_t> group) {
    GramStatistics sum = layers[group.front()].statistics;
    for (const std::size_t layer : group.subspan(1)) sum += layers[layer].statistics;
    return sum;
}

}  // namespace assay::dr_post_training
