#include "impls/dr_post_training/recipes/choice_study.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace assay::dr_post_training {
namespace {

double mean(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::set<std::size_t> largest(std::span<const double> sums, std::size_t k) {
    std::vector<std::size_t> order(sums.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sums[a] > sums[b]; });
    return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(k, order.size()))};
}

/// "layer3/up" → "layer4/up"; empty where it has no such name.
std::string a_layer_on(const std::string& name) {
    const auto slash = name.find('/');
    int layer = 0;
    if (!name.starts_with("layer") || slash == std::string::npos ||
        std::from_chars(name.data() + 5, name.data() + slash, layer).ptr != name.data() + slash)
        return "";
    return "layer" + std::to_string(layer + 1) + name.substr(slash);
}

}  // namespace

std::vector<double> ranks_of(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first + 1;
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        for (std::size_t i = first; i < end; ++i)
            ranks[order[i]] = (static_cast<double>(first + end) + 1) / 2;
        first = end;
    }
    return ranks;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
    const auto of_a = ranks_of(a), of_b = ranks_of(b);
    const double mean_a = mean(of_a), mean_b = mean(of_b);
    double both = 0, alone_a = 0, alone_b = 0;
    for (std::size_t i = 0; i < of_a.size(); ++i) {
        both += (of_a[i] - mean_a) * (of_b[i] - mean_b);
        alone_a += (of_a[i] - mean_a) * (of_a[i] - mean_a);
        alone_b += (of_b[i] - mean_b) * (of_b[i] - mean_b);
    }
    return alone_a == 0 || alone_b == 0 ? 0 : both / std::sqrt(alone_a * alone_b);
}

double jaccard(const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
    std::size_t common = 0;
    for (const auto row : a) common += b.count(row);
    const std::size_t all = a.size() + b.size() - common;
    return all == 0 ? 1 : static_cast<double>(common) / static_cast<double>(all);
}

void ChoiceStudy::add(const std::map<std::string, MapChoice>& choices) {
    if (choices.empty()) return;
    std::vector<double> sums(choices.begin()->second.scores.size());
    for (const auto& [name, choice] : choices)
        for (std::size_t b = 0; b < sums.size(); ++b) sums[b] += choice.scores[b];
    const auto for_all = largest(sums, choices.begin()->second.rows.size());

    std::set<std::set<std::size_t>> patterns;
    double agreement = 0;
    std::size_t neighbours = 0;
    for (const auto& [name, choice] : choices) {
        OfMap& map = sums_[name];
        double magnitude = 0;
        for (const double score : choice.scores) magnitude += std::abs(score);
        map.mean_score += magnitude / static_cast<double>(choice.scores.size());
        map.correlation += rank_correlation(choice.scores, sums);
        map.jaccard += jaccard(choice.rows, for_all);
        patterns.insert(choice.rows);
        const auto next = choices.find(a_layer_on(name));
        if (next == choices.end() || choice.rows.empty()) continue;
        std::size_t common = 0;
        for (const auto row : choice.rows) common += next->second.rows.count(row);
        agreement += static_cast<double>(common) / static_cast<double>(choice.rows.size());
        ++neighbours;
    }
    patterns_ += static_cast<double>(patterns.size());
    if (neighbours > 0) agreement_ += agreement / static_cast<double>(neighbours);
    ++steps_;
}

std::map<std::string, ChoiceStudy::OfMap> ChoiceStudy::maps() const {
    auto means = sums_;
    for (auto& [name, map] : means) {
        map.mean_score /= static_cast<double>(steps_);
        map.correlation /= static_cast<double>(steps_);
        map.jaccard /= static_cast<double>(steps_);
    }
    return means;
}

double ChoiceStudy::patterns() const {
    return steps_ == 0 ? 0 : patterns_ / static_cast<double>(steps_);
}

double ChoiceStudy::agreement() const {
    return steps_ == 0 ? 0 : agreement_ / static_cast<double>(steps_);
}

}  // namespace assay::dr_post_training
