#include "impls/dr_post_training/policy/sets/nonnegative.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::dr_post_training {
namespace {

// What a row adds to those before it must exceed rounding.
constexpr double least_of_diagonal = 1e-13;
constexpr double smallest_gain = 1e-13;

/// Of the rows that are anything: one that is far longer than the others must not drown them.
double median_of_diagonal(const Matrix& gram) {
    std::vector<double> lengths;
    for (std::size_t b = 0; b < gram.rows; ++b)
        if (gram(b, b) > 0) lengths.push_back(gram(b, b));
    if (lengths.empty()) return 1;
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    return *middle;
}

}  // namespace

NonNegativeWeights::NonNegativeWeights(const Matrix& gram, Sum sum)
    : gram_(&gram), sum_(sum), unit_(gram.rows, 1.0) {
    if (sum_ == Sum::one) {
        lift_ = median_of_diagonal(gram);
        return;
    }
    for (std::size_t b = 0; b < gram.rows; ++b)
        unit_[b] = gram(b, b) > 0 ? 1 / std::sqrt(gram(b, b)) : 0;
}

bool NonNegativeWeights::let_in(std::size_t row) {
    std::vector<double> column;
    column.reserve(rows_.size());
    for (const std::size_t b : rows_) column.push_back(product(b, row));
    if (!factor_.append(column, product(row, row), least_of_diagonal)) return false;
    rows_.push_back(row);
    weights_.push_back(0);
    return true;
}

void NonNegativeWeights::put_out(std::size_t place) {
    factor_.remove(place);
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(place));
    weights_.erase(weights_.begin() + static_cast<std::ptrdiff_t>(place));
}

void NonNegativeWeights::begin(std::span<const double> scores) {
    if (sum_ == Sum::free || !rows_.empty()) return;
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t b = 0; b < scores.size(); ++b) {
        const double aim = 0.5 * (*gram_)(b, b) - scores[b];
        if (aim < least) least = aim, best = b;
    }
    let_in(best);
    weights_.front() = 1;
}

/// The minimum over weights of rows_, whatever their signs.
std::vector<double> NonNegativeWeights::unbounded(std::span<const double> scores) const {
    std::vector<double> wanted;
    wanted.reserve(rows_.size());
    for (const std::size_t b : rows_) wanted.push_back(scores[b] * unit_[b]);
    std::vector<double> weights = factor_.solve(wanted);
    if (sum_ == Sum::free) {
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= unit_[rows_[i]];
        return weights;
    }
    const std::vector<double> ones = factor_.solve(std::vector<double>(rows_.size(), 1.0));
    double sum = 0, of_ones = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i], of_ones += ones[i];
    const double missing = (1 - sum) / of_ones;
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += missing * ones[i];
    return weights;
}

/// To the minimum over rows_, where rows leave whose weights become 0 on the way.
void NonNegativeWeights::descend(std::span<const double> scores) {
    while (!rows_.empty()) {
        const std::vector<double> aim = unbounded(scores);
        double step = 1;
        std::size_t stops = rows_.size();
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (aim[i] > 0) continue;
            const double until = weights_[i] > 0 ? weights_[i] / (weights_[i] - aim[i]) : 0;
            if (stops == rows_.size() || until < step) step = until, stops = i;
        }
        if (stops == rows_.size()) {
            weights_ = aim;
            return;
        }
        for (std::size_t i = 0; i < rows_.size(); ++i)
            weights_[i] = std::max(0.0, weights_[i] + step * (aim[i] - weights_[i]));
        weights_[stops] = 0;
        for (std::size_t i = rows_.size(); i-- > 0;)
            if (weights_[i] == 0 && aim[i] <= 0) put_out(i);
    }
}

std::vector<std::size_t> NonNegativeWeights::best_rows(std::span<const double> scores,
                                                       const std::vector<bool>& passed_over) const {
    const std::size_t n = scores.size();
    std::vector<double> gain(n);  // at first what is reached
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto column = gram_->row(rows_[i]);
        for (std::size_t b = 0; b < n; ++b) gain[b] += weights_[i] * column[b];
    }
    double scale = 0, common = 0;
    for (std::size_t b = 0; b < n; ++b) {
        scale = std::max({scale, std::abs(scores[b]) * unit_[b], std::abs(gain[b]) * unit_[b]});
        gain[b] = (scores[b] - gain[b]) * unit_[b];
    }
    if (sum_ == Sum::one)
        for (std::size_t i = 0; i < rows_.size(); ++i) common += weights_[i] * gain[rows_[i]];
    double most = 0;
    for (std::size_t b = 0; b < n; ++b) {
        gain[b] = passed_over[b] ? 0 : gain[b] - common;
        most = std::max(most, gain[b]);
    }
    std::vector<std::size_t> rows;
    if (most <= smallest_gain * scale) return rows;
    for (std::size_t b = 0; b < n; ++b)
        if (gain[b] >= 0.5 * most) rows.push_back(b);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::size_t a, std::size_t b) { return gain[a] > gain[b]; });
    return rows;
}

std::vector<double> NonNegativeWeights::solve(std::span<const double> scores) {
    const std::size_t n = scores.size();
    begin(scores);
    descend(scores);
    std::vector<bool> passed_over(n);
    for (const std::size_t row : rows_) passed_over[row] = true;
    // Each round brings the aim down, so that no list of rows comes back; rounding could.
    for (std::size_t round = 0; round < 20 * n + 100; ++round) {
        const std::vector<std::size_t> best = best_rows(scores, passed_over);
        if (best.empty()) break;
        for (const std::size_t row : best) {
            passed_over[row] = true;
            let_in(row);
        }
        descend(scores);
        // One of them stays, but for rounding.
        if (std::none_of(best.begin(), best.end(), [&](std::size_t row) {
                return std::find(rows_.begin(), rows_.end(), row) != rows_.end();
            }))
            continue;
        passed_over.assign(n, false);
        for (const std::size_t one : rows_) passed_over[one] = true;
    }
    std::vector<double> weights(n);
    for (std::size_t i = 0; i < rows_.size(); ++i) weights[rows_[i]] = weights_[i];
    return weights;
}

}  // namespace assay::dr_post_training
