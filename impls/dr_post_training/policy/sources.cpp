#include "impls/dr_post_training/policy/sources.hpp"

#include <map>
#include <numeric>

#include "impls/dr_post_training/policy/sets/nonnegative.hpp"

namespace assay::dr_post_training {
namespace {

struct Sources {
    std::vector<std::string> names;              ///< by first appearance
    std::vector<std::size_t> of_row;             ///< [n]
    std::vector<std::vector<std::size_t>> rows;  ///< of each
};

Sources sources_of(const std::vector<std::string>& names) {
    Sources sources;
    std::map<std::string, std::size_t> known;
    for (std::size_t b = 0; b < names.size(); ++b) {
        const auto [found, is_new] = known.emplace(names[b], sources.names.size());
        if (is_new) {
            sources.names.push_back(names[b]);
            sources.rows.emplace_back();
        }
        sources.of_row.push_back(found->second);
        sources.rows[found->second].push_back(b);
    }
    return sources;
}

/// The simplex' weights of the sources' mean gradients.
std::vector<double> simplex_weights(const Sources& sources, const GramStatistics& all,
                                    const std::vector<double>& w, const TargetDirection& target) {
    const std::size_t count = sources.names.size();
    std::vector<double> share = w;  // of a row in its source
    for (const auto& rows : sources.rows) {
        double sum = 0;
        for (const std::size_t b : rows) sum += w[b];
        for (const std::size_t b : rows) share[b] /= sum;
    }
    Matrix gram(count, count);
    std::vector<double> scores(count);
    for (std::size_t b = 0; b < share.size(); ++b) {
        scores[sources.of_row[b]] += share[b] * target.scores[b];
        for (std::size_t c = 0; c < share.size(); ++c)
            gram(sources.of_row[b], sources.of_row[c]) += share[b] * share[c] * all.gram(b, c);
    }
    return NonNegativeWeights(gram, NonNegativeWeights::Sum::one).solve(scores);
}

}  // namespace

std::vector<PlannedSource> plan_sources(const PlanInput& input,
                                        const std::vector<PlannedGroup>& groups) {
    const Sources sources = sources_of(input.sources);
    std::vector<std::size_t> layers(input.layers.size());
    std::iota(layers.begin(), layers.end(), std::size_t{0});
    const GramStatistics all = statistics_of_group(input.layers, layers);
    const TargetDirection target = target_direction(all);
    const std::vector<double> weights =
        simplex_weights(sources, all, row_weights(input.tokens, input.rows()), target);

    std::vector<PlannedSource> planned;
    for (std::size_t s = 0; s < sources.names.size(); ++s) {
        PlannedSource source{.source = sources.names[s],
                             .rows = sources.rows[s].size(),
                             .score = 0,
                             .kept = {},
                             .weight = weights[s]};
        const double rows = static_cast<double>(source.rows);
        for (const std::size_t b : sources.rows[s]) source.score += target.scores[b] / rows;
        planned.push_back(std::move(source));
    }
    if (groups.front().update.selected) {
        for (PlannedSource& source : planned) source.kept = 0;
        for (const PlannedGroup& group : groups)
            for (const std::size_t b : *group.update.selected) {
                PlannedSource& source = planned[sources.of_row[b]];
                *source.kept += 1 / static_cast<double>(source.rows * groups.size());
            }
    }
    return planned;
}

}  // namespace assay::dr_post_training
