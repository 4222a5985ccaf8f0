#include "impls/dr_post_training/policy/statistics.hpp"

#include <numeric>

namespace assay::dr_post_training {

GramStatistics& GramStatistics::operator+=(const GramStatistics& other) {
    gram += other.gram;
    scores += other.scores;
    if (target_gram && other.target_gram)
        *target_gram += *other.target_gram;
    else
        target_gram.reset();
    return *this;
}

GramStatistics statistics_of(const Matrix& gradients, const Matrix& target) {
    GramStatistics found{.gram = Matrix(gradients.rows, gradients.rows),
                         .scores = Matrix(gradients.rows, target.rows),
                         .target_gram = Matrix(target.rows, target.rows)};
    add_products(gradients, found.gram);
    add_products(gradients, target, found.scores);
    add_products(target, *found.target_gram);
    return found;
}

TargetDirection target_direction(const GramStatistics& statistics,
                                 std::optional<std::size_t> without) {
    const std::size_t m = statistics.target_rows();
    const double count = static_cast<double>(without ? m - 1 : m);
    const auto sum = [&](std::span<const double> values) {
        double total = 0;
        for (std::size_t i = 0; i < m; ++i)
            if (i != without) total += values[i];
        return total;
    };
    TargetDirection direction;
    direction.scores.reserve(statistics.rows());
    for (std::size_t b = 0; b < statistics.rows(); ++b)
        direction.scores.push_back(sum(statistics.scores.row(b)) / count);
    if (statistics.target_gram) {
        double all = 0;
        for (std::size_t i = 0; i < m; ++i)
            if (i != without) all += sum(statistics.target_gram->row(i));
        direction.norm2 = all / (count * count);
    }
    return direction;
}

std::vector<double> row_weights(std::span<const double> tokens, std::size_t rows) {
    if (tokens.empty()) return std::vector<double>(rows, 1 / static_cast<double>(rows));
    const double all = std::accumulate(tokens.begin(), tokens.end(), 0.0);
    std::vector<double> weights(tokens.begin(), tokens.end());
    for (double& weight : weights) weight /= all;
    return weights;
}

}  // namespace assay::dr_post_training
