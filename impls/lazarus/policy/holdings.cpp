#include "impls/lazarus/policy/holdings.hpp"

#include <algorithm>

namespace assay::lazarus {

void Holdings::assign(const std::vector<Worker>& training, const ModelPlacement& holders) {
    held_.clear();
    for (std::size_t i = 0; i < training.size(); ++i) {
        for (const Placement& layer : holders) held_[training[i]].push_back(layer[i]);
    }
}

std::optional<Worker> Holdings::dense_holder() const {
    if (held_.empty()) return std::nullopt;
    return held_.begin()->first;
}

ModelPlacement Holdings::table(const std::vector<Worker>& workers) const {
    ModelPlacement table(static_cast<std::size_t>(layers_), Placement(workers.size()));
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const auto found = held_.find(workers[i]);
        if (found == held_.end()) continue;
        for (std::size_t layer = 0; layer < table.size(); ++layer)
            table[layer][i] = found->second[layer];
    }
    return table;
}

std::optional<LostExpert> Holdings::lost() const {
    return first_lost_expert(table(workers()), experts_);
}

std::vector<std::vector<Worker>> Holdings::share_out_writing() const {
    std::vector<std::vector<Worker>> owners(static_cast<std::size_t>(layers_));
    std::map<Worker, int> parts;
    for (std::size_t layer = 0; layer < owners.size(); ++layer) {
        for (int expert = 0; expert < experts_; ++expert) {
            std::optional<Worker> owner;
            for (const auto& [worker, layers] : held_) {
                const std::vector<int>& mine = layers[layer];
                if (std::find(mine.begin(), mine.end(), expert) == mine.end()) continue;
                if (!owner || parts[worker] < parts[*owner]) owner = worker;
            }
            ++parts[owner.value()];
            owners[layer].push_back(owner.value());
        }
    }
    return owners;
}

std::vector<Worker> Holdings::workers() const {
    std::vector<Worker> workers;
    for (const auto& [worker, layers] : held_) workers.push_back(worker);
    return workers;
}

}  // namespace assay::lazarus
