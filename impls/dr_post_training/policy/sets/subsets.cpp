#include "impls/dr_post_training/policy/sets/subsets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

namespace assay::dr_post_training {
namespace {

double largest_magnitude(std::span<const double> values) {
    double most = 0;
    for (const double value : values) most = std::max(most, std::abs(value));
    return most;
}

/// The first `count` rows of an order that goes by falling `values`; of those equal to the largest
/// that is left the lowest place comes first.
std::vector<std::size_t> first_of_falling(std::span<const double> values, std::size_t count) {
    demand_finite(values, "scores");
    std::vector<std::size_t> falling(values.size());
    std::iota(falling.begin(), falling.end(), std::size_t{0});
    std::stable_sort(falling.begin(), falling.end(),
                     [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    const double tolerance = equal_scores * largest_magnitude(values);

    std::vector<std::size_t> taken;
    std::vector<bool> is_taken(values.size());
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> equal;
    std::size_t largest = 0, next = 0;  // places in `falling`
    while (taken.size() < count) {
        while (is_taken[falling[largest]]) ++largest;
        for (;
             next < falling.size() && values[falling[next]] >= values[falling[largest]] - tolerance;
             ++next)
            equal.push(falling[next]);
        taken.push_back(equal.top());
        is_taken[equal.top()] = true;
        equal.pop();
    }
    return taken;
}

}  // namespace

std::vector<std::size_t> select_topk(std::span<const double> scores, std::size_t k) {
    auto rows = first_of_falling(scores, k);
    std::sort(rows.begin(), rows.end());
    return rows;
}

std::vector<std::size_t> select_filter(std::span<const double> scores, double drop) {
    const std::size_t n = scores.size();
    const double tolerance = equal_scores * largest_magnitude(scores);
    // From the back, so that of equal ones the higher number comes first.
    std::vector<double> against(n);
    std::size_t negatives = 0;
    for (std::size_t b = 0; b < n; ++b) {
        against[n - 1 - b] = -scores[b];
        if (scores[b] < -tolerance) ++negatives;
    }
    const auto dropped = first_of_falling(
        against, static_cast<std::size_t>(std::trunc(drop * static_cast<double>(negatives))));
    std::vector<bool> is_dropped(n);
    for (const std::size_t place : dropped) is_dropped[n - 1 - place] = true;
    std::vector<std::size_t> rows;
    for (std::size_t b = 0; b < n; ++b)
        if (!is_dropped[b]) rows.push_back(b);
    return rows;
}

std::vector<std::size_t> select_greedy(const Matrix& gram, std::span<const double> target_scores,
                                       std::span<const double> row_weights, std::size_t k,
                                       double eta) {
    const std::size_t n = target_scores.size();
    std::vector<double> left(n);
    for (std::size_t b = 0; b < n; ++b) left[b] = eta * row_weights[b] * target_scores[b];
    std::vector<std::size_t> rows;
    std::vector<bool> taken(n);
    double scale = largest_magnitude(left);
    while (rows.size() < k) {
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t b = 0; b < n; ++b)
            if (!taken[b]) most = std::max(most, left[b]);
        std::size_t best = 0;
        while (taken[best] || left[best] < most - equal_scores * scale) ++best;
        taken[best] = true;
        rows.push_back(best);
        for (std::size_t b = 0; b < n; ++b)
            left[b] -= eta * eta * row_weights[best] * row_weights[b] * gram(best, b);
        scale = std::max(scale, largest_magnitude(left));
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

double subsets(std::size_t n, std::size_t k) {
    k = std::min(k, n - k);
    double count = 1;
    for (std::size_t i = 1; i <= k && count <= most_subsets; ++i)
        count = count * static_cast<double>(n - k + i) / static_cast<double>(i);
    return std::round(count);
}

namespace {

/// Tries all subsets of a size, of rows or of those left out, whichever are fewer; what a subset
/// adds up to is known from the subset without its last row.
class NearestSubset {
  public:
    NearestSubset(const Matrix& gram, std::span<const double> scores, std::span<const double> w,
                  std::size_t k)
        : n_(scores.size()), leaves_out_(2 * k > n_), size_(leaves_out_ ? n_ - k : k), w_(w) {
        products_ = gram;
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = 0; b < n_; ++b) products_(a, b) *= w[a] * w[b];
        for (std::size_t b = 0; b < n_; ++b) scores_.push_back(w[b] * scores[b]);
        for (std::size_t b = 0; b < n_; ++b)
            all_of_.push_back(
                std::accumulate(products_.row(b).begin(), products_.row(b).end(), 0.0));
        scale_ = std::max(gram.largest(), largest_magnitude(scores));
        all_ = {.norm2 = std::accumulate(all_of_.begin(), all_of_.end(), 0.0),
                .dot = std::accumulate(scores_.begin(), scores_.end(), 0.0),
                .weight = std::accumulate(w.begin(), w.end(), 0.0)};
    }

    std::vector<std::size_t> find() {
        visit({.norm2 = 0, .dot = 0, .weight = 0}, 0, [&](double distance) {
            least_ = std::min(least_, distance);
            return true;
        });
        // Subsets come in lexicographic order, and where they are those left out the first of
        // those kept is the last.
        visit({.norm2 = 0, .dot = 0, .weight = 0}, 0, [&](double distance) {
            if (distance > least_ + equal_scores * scale_) return true;
            found_ = chosen_;
            return leaves_out_;
        });
        if (!leaves_out_) return found_;
        std::vector<std::size_t> kept;
        for (std::size_t b = 0; b < n_; ++b)
            if (!std::binary_search(found_.begin(), found_.end(), b)) kept.push_back(b);
        return kept;
    }

  private:
    struct Sums {  // over a subset, of weighted rows
        double norm2, dot, weight;
    };

    double distance(Sums sums) const {
        if (leaves_out_) {
            double crossed = 0;
            for (const std::size_t b : chosen_) crossed += all_of_[b];
            sums.norm2 += all_.norm2 - 2 * crossed;
            sums.dot = all_.dot - sums.dot;
            sums.weight = all_.weight - sums.weight;
        }
        return sums.norm2 / (sums.weight * sums.weight) - 2 * sums.dot / sums.weight;
    }

    /// False: `look` has seen enough.
    template <class Look>
    bool visit(const Sums& sums, std::size_t first, const Look& look) {
        if (chosen_.size() == size_) return look(distance(sums));
        const std::size_t missing = size_ - chosen_.size();
        for (std::size_t b = first; b + missing <= n_; ++b) {
            Sums with{.norm2 = sums.norm2 + products_(b, b),
                      .dot = sums.dot + scores_[b],
                      .weight = sums.weight + w_[b]};
            for (const std::size_t c : chosen_) with.norm2 += 2 * products_(b, c);
            chosen_.push_back(b);
            const bool go_on = visit(with, b + 1, look);
            chosen_.pop_back();
            if (!go_on) return false;
        }
        return true;
    }

    std::size_t n_;
    bool leaves_out_;
    std::size_t size_;
    std::span<const double> w_;
    Matrix products_;  // <w_a g_a, w_b g_b>
    Sums all_{};
    std::vector<double> scores_, all_of_;
    double scale_ = 0, least_ = std::numeric_limits<double>::infinity();
    std::vector<std::size_t> chosen_, found_;
};

}  // namespace

std::vector<std::size_t> select_exact(const Matrix& gram, std::span<const double> target_scores,
                                      std::span<const double> row_weights, std::size_t k) {
    const std::size_t n = target_scores.size();
    if (subsets(n, k) > most_subsets)
        throw SetRefused(
            fmt::format("exact: {} of {} rows are more than a million subsets; use topk or greedy, "
                        "or give fewer rows",
                        k, n));
    return NearestSubset(gram, target_scores, row_weights, k).find();
}

}  // namespace assay::dr_post_training
