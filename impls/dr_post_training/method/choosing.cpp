#include "impls/dr_post_training/method/choosing.hpp"

#include <fmt/format.h>

#include <utility>

#include "impls/dr_post_training/policy/sets/group_solver.hpp"

namespace assay::dr_post_training {

std::string group_of(Partition partition, const nn::Place& place) {
    const std::string name(place.name);
    if (partition == Partition::global) return "all";
    if (place.layer < 0) return name;
    const auto block = fmt::format("layer{}", place.layer);
    if (partition == Partition::block) return block;
    if (partition == Partition::layer) return block + "/" + name;
    const auto map = name.substr(0, name.find('.'));  // adapters belong to their map
    const bool ffn = map == "gate" || map == "up" || map == "down";
    return block + (ffn ? "/ffn" : "/attention");
}

Update update_of(SetKind set, const SetSettings& settings, const std::vector<double>& shares,
                 const GroupStatistics& seen) {
    const std::size_t n = shares.size();
    GramStatistics statistics;
    statistics.gram = seen.gram.values.empty() ? Matrix(n, n) : seen.gram;
    statistics.scores = Matrix(n, 1);
    for (std::size_t b = 0; b < n; ++b) statistics.scores(b, 0) = seen.target.scores[b];
    return GroupSolver(std::move(statistics), shares).update(set, settings, seen.target);
}

SelectingOptions options_for(Partition partition, SetKind set) {
    SelectingOptions options;
    options.gram = set != SetKind::topk && set != SetKind::filter && set != SetKind::full;
    options.target_weights = needs_target_norm(set);
    options.group_of = [partition](const nn::Place& place) { return group_of(partition, place); };
    return options;
}

Update subset_update(std::vector<std::size_t> rows, const std::vector<double>& shares) {
    Update update{{}, std::vector<double>(shares.size()), 0};
    double sum = 0;
    for (const auto row : rows) sum += shares[row];
    for (const auto row : rows) update.weights[row] = shares[row] / sum;
    update.selected = std::move(rows);
    return update;
}

}  // namespace assay::dr_post_training
