#include "impls/dr_post_training/policy/sets/group_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "impls/dr_post_training/policy/sets/subsets.hpp"

namespace assay::dr_post_training {
namespace {

/// A squared norm out of terms; what rounding left of nothing is 0.
double norm2_of(double sum, double largest_term) {
    return sum <= rounding_of_norm2 * largest_term ? 0 : sum;
}

double norm2_of(std::initializer_list<double> terms) {
    double sum = 0, most = 0;
    for (const double term : terms) sum += term, most = std::max(most, std::abs(term));
    return norm2_of(sum, most);
}

struct QuadraticForm {
    double sum = 0, largest_term = 0;
};

/// wᵀKw over rows that have weight.
QuadraticForm quadratic_form(const Matrix& gram, std::span<const double> weights) {
    std::vector<std::size_t> rows;
    for (std::size_t b = 0; b < weights.size(); ++b)
        if (weights[b] != 0) rows.push_back(b);
    QuadraticForm form;
    for (const std::size_t a : rows) {
        double sum = 0, most = 0;
        for (const std::size_t b : rows) {
            const double term = weights[b] * gram(a, b);
            sum += term;
            most = std::max(most, std::abs(term));
        }
        form.sum += weights[a] * sum;
        form.largest_term = std::max(form.largest_term, std::abs(weights[a]) * most);
    }
    return form;
}

}  // namespace

GroupSolver::GroupSolver(GramStatistics statistics, std::vector<double> row_weights)
    : statistics_(std::move(statistics)),
      w_(std::move(row_weights)),
      simplex_(statistics_.gram, NonNegativeWeights::Sum::one),
      cone_(statistics_.gram, NonNegativeWeights::Sum::free) {
    const QuadraticForm mean = quadratic_form(statistics_.gram, w_);
    mean_norm2_ = norm2_of(mean.sum, mean.largest_term);
}

std::vector<double> GroupSolver::scores(const TargetDirection& target) const {
    std::vector<double> scores = target.scores;
    const double n = static_cast<double>(scores.size());
    for (std::size_t b = 0; b < scores.size(); ++b) scores[b] *= n * w_[b];
    return scores;
}

std::vector<double> GroupSolver::on_mean(double factor) const {
    std::vector<double> weights = w_;
    for (double& weight : weights) weight *= factor;
    return weights;
}

Update GroupSolver::of_rows(std::vector<std::size_t> rows) const {
    Update update{.selected = {}, .weights = std::vector<double>(w_.size()), .target_weight = 0};
    double sum = 0;
    for (const std::size_t row : rows) sum += w_[row];
    for (const std::size_t row : rows) update.weights[row] = w_[row] / sum;
    update.selected = std::move(rows);
    return update;
}

double GroupSolver::mean_score(const TargetDirection& target) const {
    return dot(w_, target.scores);
}

std::vector<double> GroupSolver::subspace(double ridge, std::span<const double> scores) {
    const Matrix& gram = statistics_.gram;
    double trace = 0;
    for (std::size_t b = 0; b < gram.rows; ++b) trace += gram(b, b);
    if (trace <= 0) return std::vector<double>(w_.size());  // no gradient: nothing to reach v with
    if (factor_ridge_ != ridge) {
        ridge_factor_ = cholesky(gram, ridge * trace / static_cast<double>(gram.rows));
        factor_ridge_ = ridge;
    }
    if (!ridge_factor_)
        throw SetRefused(
            fmt::format("subspace: ridge {:g} is lost in the rounding of these gradients' inner "
                        "products; give a larger one",
                        ridge));
    return solve_with(*ridge_factor_, scores);
}

Update GroupSolver::update(SetKind kind, const SetSettings& settings,
                           const TargetDirection& target) {
    if (needs_target_norm(kind) && !target.norm2)
        throw SetRefused(
            fmt::format("{}: needs |v|, the target gradients' own inner products; "
                        "give \"target_gram\", or gradients",
                        to_string(kind)));
    if (kind != SetKind::full) {
        demand_finite(target.scores, "scores");
        demand_finite(statistics_.gram.values, "inner products of rows");
    }
    const auto weighted = [](std::vector<double> weights, double target_weight = 0) {
        return Update{
            .selected = {}, .weights = std::move(weights), .target_weight = target_weight};
    };
    switch (kind) {
        case SetKind::full:
            return weighted(w_);
        case SetKind::topk:
            return of_rows(select_topk(scores(target), settings.k));
        case SetKind::greedy:
            return of_rows(
                select_greedy(statistics_.gram, target.scores, w_, settings.k, settings.eta));
        case SetKind::exact:
            return of_rows(select_exact(statistics_.gram, target.scores, w_, settings.k));
        case SetKind::filter:
            return of_rows(select_filter(scores(target), settings.drop));
        case SetKind::simplex:
            return weighted(simplex_.solve(target.scores));
        case SetKind::cone:
            return weighted(cone_.solve(target.scores));
        case SetKind::subspace:
            return weighted(subspace(settings.ridge, target.scores));
        case SetKind::ball: {
            const double away =
                std::sqrt(norm2_of({*target.norm2, -2 * mean_score(target), mean_norm2_}));
            const double radius = settings.radius * std::sqrt(mean_norm2_);
            const double share = away <= radius ? 1 : radius / away;
            return weighted(on_mean(1 - share), share);
        }
        case SetKind::halfspace: {
            const double along = mean_score(target);
            if (along >= 0 || mean_norm2_ == 0) return weighted(on_mean(0), 1);
            return weighted(on_mean(-along / mean_norm2_), 1);
        }
        case SetKind::target:
            return weighted(on_mean(0), 1);
    }
    throw std::logic_error("no such set");
}

Closeness GroupSolver::closeness(const Update& update, const TargetDirection& target) const {
    const double t = update.target_weight;
    const double along = dot(update.weights, target.scores);  // <Σ w g, v>
    const QuadraticForm rows = quadratic_form(statistics_.gram, update.weights);
    const double target_norm2 = target.norm2.value_or(0);
    const double crossed = 2 * t * along, own = t * t * target_norm2;

    Closeness found;
    found.dot = along + t * target_norm2;
    found.norm2 =
        norm2_of(rows.sum + crossed + own, std::max({rows.largest_term, std::abs(crossed), own}));
    if (target.norm2) {
        // With u = Σ w g + t·v the part along v is taken together, so that u = v is at 0.
        const double left = (1 - t) * (1 - t) * target_norm2, back = -2 * (1 - t) * along;
        found.distance2 =
            norm2_of(rows.sum + back + left, std::max({rows.largest_term, std::abs(back), left}));
    }
    return found;
}

double GroupSolver::gain_on(const Update& update, std::size_t target_row) const {
    double gain = 0;
    for (std::size_t b = 0; b < update.weights.size(); ++b)
        gain += update.weights[b] * statistics_.scores(b, target_row);
    if (update.target_weight != 0) {
        const auto row = statistics_.target_gram->row(target_row);
        const double others = std::accumulate(row.begin(), row.end(), 0.0) - row[target_row];
        gain += update.target_weight * others / static_cast<double>(row.size() - 1);
    }
    return gain;
}

}  // namespace assay::dr_post_training
