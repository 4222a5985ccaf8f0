// Every set against brute force: all subsets, all supports, and closed forms worked out on the
// gradients themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <optional>

#include "impls/dr_post_training/policy/sets/group_solver.hpp"
#include "impls/dr_post_training/policy/sets/subsets.hpp"
#include "tests/dr_post_training/policy/random_gradients.hpp"

namespace assay::dr_post_training {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Rows = std::vector<std::size_t>;

/// Solves a x = b by elimination with pivots; nothing where a is singular.
std::optional<std::vector<double>> solution(Matrix a, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t pivot = i;
        for (std::size_t r = i; r < n; ++r)
            if (std::abs(a(r, i)) > std::abs(a(pivot, i))) pivot = r;
        if (std::abs(a(pivot, i)) < 1e-11) return std::nullopt;
        for (std::size_t c = 0; c < n; ++c) std::swap(a(i, c), a(pivot, c));
        std::swap(b[i], b[pivot]);
        for (std::size_t r = i + 1; r < n; ++r) {
            const double factor = a(r, i) / a(i, i);
            for (std::size_t c = i; c < n; ++c) a(r, c) -= factor * a(i, c);
            b[r] -= factor * b[i];
        }
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t c = i + 1; c < n; ++c) b[i] -= a(i, c) * b[c];
        b[i] /= a(i, i);
    }
    return b;
}

/// The least |Σ w g − v|² over w ≥ 0 (that add up to 1): the best over all supports.
double least_by_supports(const Matrix& g, const std::vector<double>& v, bool sum_to_one) {
    const std::size_t n = g.rows;
    double least = sum_to_one ? std::numeric_limits<double>::infinity() : inner(v, v);
    for (unsigned support = 1; support < (1U << n); ++support) {
        Rows rows;
        for (std::size_t b = 0; b < n; ++b)
            if (support >> b & 1) rows.push_back(b);
        const std::size_t size = rows.size(), all = size + (sum_to_one ? 1 : 0);
        Matrix a(all, all);
        std::vector<double> right(all, 1);
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < size; ++j)
                for (std::size_t d = 0; d < g.columns; ++d)
                    a(i, j) += g(rows[i], d) * g(rows[j], d);
            right[i] = 0;
            for (std::size_t d = 0; d < g.columns; ++d) right[i] += g(rows[i], d) * v[d];
            if (sum_to_one) a(i, size) = a(size, i) = 1;
        }
        const auto found = solution(a, right);
        if (!found) continue;
        std::vector<double> weights(n);
        bool feasible = true;
        for (std::size_t i = 0; i < size; ++i) {
            weights[rows[i]] = (*found)[i];
            feasible = feasible && (*found)[i] >= -1e-12;
        }
        if (feasible) least = std::min(least, distance2(sum_of_rows(g, weights), v));
    }
    return least;
}

struct Problem {
    Matrix gradients, target;
    std::vector<double> w, v;
    GroupSolver solver;
    TargetDirection direction;

    Problem(Matrix g, Matrix t, std::vector<double> tokens = {})
        : gradients(std::move(g)),
          target(std::move(t)),
          w(row_weights(tokens, gradients.rows)),
          v(mean_row(target)),
          solver(statistics_of(gradients, target), w),
          direction(target_direction(solver.statistics())) {}

    std::vector<double> direction_of(const Update& update) const {
        auto u = sum_of_rows(gradients, update.weights);
        for (std::size_t j = 0; j < u.size(); ++j) u[j] += update.target_weight * v[j];
        return u;
    }
    Update update(SetKind kind, const SetSettings& settings = {}) {
        return solver.update(kind, settings, direction);
    }
};

Problem random_problem(RandomNumbers& random, std::size_t most_rows = 7) {
    const std::size_t n = 1 + random.below(most_rows), d = 1 + random.below(9);
    std::vector<double> tokens;
    if (random.below(2) == 0)
        for (std::size_t b = 0; b < n; ++b) tokens.push_back(1.0 + double(random.below(30)));
    Matrix g = random.matrix(n, d);
    // Rows that are there twice, or nothing.
    if (n > 2 && random.below(4) == 0)
        for (std::size_t j = 0; j < d; ++j) g(1, j) = g(0, j);
    if (n > 2 && random.below(6) == 0)
        for (std::size_t j = 0; j < d; ++j) g(2, j) = 0;
    return Problem(std::move(g), random.matrix(1 + random.below(3), d), tokens);
}

TEST(DrSets, ClosenessIsThatOfTheVectors) {
    RandomNumbers random(1);
    for (int round = 0; round < 300; ++round) {
        Problem problem = random_problem(random);
        const SetSettings settings{.k = 1 + random.below(problem.gradients.rows),
                                   .drop = random.uniform(),
                                   .radius = 2 * random.uniform()};
        for (const SetKind kind : set_kinds) {
            const Update update = problem.update(kind, settings);
            const auto u = problem.direction_of(update);
            const Closeness found = problem.solver.closeness(update, problem.direction);
            EXPECT_NEAR(found.dot, inner(u, problem.v), 1e-11);
            EXPECT_NEAR(found.norm2, inner(u, u), 1e-11);
            ASSERT_TRUE(found.distance2);
            EXPECT_NEAR(*found.distance2, distance2(u, problem.v), 1e-11);
            EXPECT_EQ(update.selected.has_value(), selects(kind));
        }
    }
}

TEST(DrSets, TopkTakesTheLargestScores) {
    EXPECT_THAT(select_topk(std::vector{0.5, 2.0, 2.0, -1.0, 2.0}, 2), ElementsAre(1, 2));
    EXPECT_THAT(select_topk(std::vector{0.5, 2.0, 2.0, -1.0, 2.0}, 4), ElementsAre(0, 1, 2, 4));
    // Equal to rounding: the lower number, although the other one is larger by a bit.
    EXPECT_THAT(select_topk(std::vector{1.0, 1.0 + 1e-15, 0.0}, 1), ElementsAre(0));
    EXPECT_THAT(select_topk(std::vector{1.0, 1.0 + 1e-11, 0.0}, 1), ElementsAre(1));
    // Scores of any size are told apart.
    EXPECT_THAT(select_topk(std::vector{1e-20, 3e-20, 2e-20}, 1), ElementsAre(1));
    EXPECT_THAT(select_topk(std::vector{0.0, 0.0}, 1), ElementsAre(0));
}

TEST(DrSets, RefuseWhatIsNotFinite) {
    const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
    for (const double bad : {nan, infinite, -infinite}) {
        EXPECT_THROW(select_topk(std::vector{bad, bad, bad}, 2), NotFinite);
        EXPECT_THROW(select_topk(std::vector{1.0, bad}, 0), NotFinite);
        EXPECT_THROW(select_filter(std::vector{1.0, bad}, 1), NotFinite);
        RandomNumbers random(3);
        for (const SetKind kind : set_kinds) {
            Problem problem(random.matrix(5, 4), random.matrix(2, 4));
            problem.direction.scores[1] = bad;
            if (kind == SetKind::full)
                EXPECT_EQ(problem.update(kind).weights, problem.w) << "goes by no score";
            else
                EXPECT_THROW(problem.update(kind, {.k = 2}), NotFinite) << to_string(kind);
            if (kind == SetKind::full) continue;
            Matrix gradients = random.matrix(5, 4);
            gradients(2, 0) = bad;
            EXPECT_THROW(Problem(gradients, random.matrix(2, 4)).update(kind, {.k = 2}), NotFinite);
        }
    }
}

TEST(DrSets, FilterDropsTheMostNegative) {
    const std::vector scores{-1.0, 2.0, -3.0, -1.0, 0.0};
    EXPECT_THAT(select_filter(scores, 1), ElementsAre(1, 4));
    EXPECT_THAT(select_filter(scores, 0.34), ElementsAre(0, 1, 3, 4));
    // Of the two that are equal the higher number goes first.
    EXPECT_THAT(select_filter(scores, 0.67), ElementsAre(0, 1, 4));
    EXPECT_THAT(select_filter(scores, 0.33), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(select_filter(std::vector{-1.0, -2.0}, 1), IsEmpty());
    EXPECT_THAT(select_filter(std::vector{1.0, -1e-15}, 1), ElementsAre(0, 1));
}

TEST(DrSets, GreedySubtractsWhatIsThereAlready) {
    // Rows 0 and 1 are the same; row 2 is worth a little less and stands across.
    Problem problem(Matrix(3, 2), Matrix(1, 2));
    Matrix g(3, 2), t(1, 2);
    g.values = {1, 0, 1, 0, 0, 1};
    t.values = {1, 0.9};
    Problem twice(g, t);
    EXPECT_EQ(twice.update(SetKind::topk, {.k = 2}).selected, (Rows{0, 1}));
    // eta w = 0.4 / 3: 0.133 and 0.12; the second 0 would be 0.133 - 0.0178.
    EXPECT_EQ(twice.update(SetKind::greedy, {.k = 2, .eta = 0.4}).selected, (Rows{0, 2}));
    EXPECT_EQ(twice.update(SetKind::greedy, {.k = 2, .eta = 1e-5}).selected, (Rows{0, 1}));
    EXPECT_EQ(problem.update(SetKind::greedy, {.k = 2}).selected, (Rows{0, 1}));
}

TEST(DrSets, GreedyIsThePublishedLoop) {
    RandomNumbers random(2);
    for (int round = 0; round < 200; ++round) {
        const std::size_t n = 2 + random.below(8), k = 1 + random.below(n);
        Problem problem(random.matrix(n, 5), random.matrix(2, 5));
        const double eta = std::pow(10, 2 - 4 * random.uniform());
        std::vector<double> s(n);
        for (std::size_t b = 0; b < n; ++b) s[b] = eta * problem.w[b] * problem.direction.scores[b];
        Rows expected;
        for (std::size_t i = 0; i < k; ++i) {
            const std::size_t best =
                static_cast<std::size_t>(std::max_element(s.begin(), s.end()) - s.begin());
            expected.push_back(best);
            for (std::size_t b = 0; b < n; ++b)
                s[b] -= eta * eta * problem.w[best] * problem.w[b] *
                        problem.solver.statistics().gram(best, b);
            for (const std::size_t b : expected) s[b] = -std::numeric_limits<double>::infinity();
        }
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(problem.update(SetKind::greedy, {.k = k, .eta = eta}).selected, expected);
    }
}

TEST(DrSets, ExactIsTheNearestOfAllSubsets) {
    RandomNumbers random(3);
    for (int round = 0; round < 300; ++round) {
        Problem problem = random_problem(random, 9);
        const std::size_t n = problem.gradients.rows, k = 1 + random.below(n);
        double least = std::numeric_limits<double>::infinity();
        Rows nearest;
        for (unsigned subset = 0; subset < (1U << n); ++subset) {
            Rows rows;
            for (std::size_t b = 0; b < n; ++b)
                if (subset >> b & 1) rows.push_back(b);
            if (rows.size() != k) continue;
            double sum = 0;
            for (const std::size_t b : rows) sum += problem.w[b];
            std::vector<double> weights(n);
            for (const std::size_t b : rows) weights[b] = problem.w[b] / sum;
            const double distance = distance2(sum_of_rows(problem.gradients, weights), problem.v);
            if (distance < least - 1e-10 || (distance < least + 1e-10 && rows < nearest)) {
                least = distance;
                nearest = rows;
            }
        }
        const Update update = problem.update(SetKind::exact, {.k = k});
        EXPECT_EQ(update.selected, nearest);
        EXPECT_NEAR(distance2(problem.direction_of(update), problem.v), least, 1e-10);
    }
}

TEST(DrSets, ExactTiesGoToTheFirstInOrder) {
    // Four rows alike: any two are as near.
    Matrix g(4, 1), t(1, 1);
    g.values = {1, 1, 1, 1};
    t.values = {2};
    for (std::size_t k = 1; k <= 4; ++k) {
        Rows expected(k);
        std::iota(expected.begin(), expected.end(), std::size_t{0});
        EXPECT_EQ(Problem(g, t).update(SetKind::exact, {.k = k}).selected, expected);
    }
}

TEST(DrSets, ExactRefusesMoreThanAMillionSubsets) {
    EXPECT_EQ(subsets(8, 4), 70);
    EXPECT_EQ(subsets(20, 10), 184756);
    EXPECT_GT(subsets(23, 11), most_subsets);
    EXPECT_EQ(subsets(1000000, 1), 1e6);
    EXPECT_GT(subsets(2000, 1000), most_subsets);
    RandomNumbers random(4);
    Problem problem(random.matrix(23, 2), random.matrix(1, 2));
    EXPECT_THROW(problem.update(SetKind::exact, {.k = 11}), SetRefused);
    EXPECT_NO_THROW(problem.update(SetKind::exact, {.k = 22}));
}

TEST(DrSets, SimplexAndConeAreNearestOfAllSupports) {
    RandomNumbers random(5);
    for (int round = 0; round < 400; ++round) {
        Problem problem = random_problem(random);
        for (const SetKind kind : {SetKind::simplex, SetKind::cone}) {
            const Update update = problem.update(kind);
            double sum = 0;
            for (const double weight : update.weights) {
                EXPECT_GE(weight, 0);
                sum += weight;
            }
            if (kind == SetKind::simplex) {
                EXPECT_NEAR(sum, 1, 1e-12);
            }
            EXPECT_NEAR(distance2(problem.direction_of(update), problem.v),
                        least_by_supports(problem.gradients, problem.v, kind == SetKind::simplex),
                        1e-9)
                << to_string(kind) << " round " << round;
        }
    }
}

TEST(DrSets, AFarLongerRowDoesNotDrownTheOthers) {
    RandomNumbers random(12);
    for (int round = 0; round < 100; ++round) {
        const Matrix g = random.matrix(6, 4), t = random.matrix(1, 4);
        Matrix longer = g;
        for (std::size_t j = 0; j < 4; ++j) longer(2, j) *= 1e7;
        Problem problem(longer, t);
        // A cone is the same whatever the lengths; on the simplex the long row hardly counts.
        // (Supports that nearly hang together are too much for the elimination: it is no better.)
        const auto away = [&](SetKind kind) {
            const Update update = problem.update(kind);
            for (const double weight : update.weights) EXPECT_GE(weight, 0);
            return distance2(problem.direction_of(update), problem.v);
        };
        EXPECT_LE(away(SetKind::cone), least_by_supports(g, problem.v, false) + 1e-8) << round;
        EXPECT_LE(away(SetKind::simplex), least_by_supports(longer, problem.v, true) + 1e-5)
            << round;
    }
}

/// At a minimum no row points further along the rest than those with weight (Karush, Kuhn, Tucker).
TEST(DrSets, SimplexAndConeAreMinimaOfLargeProblems) {
    RandomNumbers random(6);
    for (const auto& [n, d] : {std::pair<std::size_t, std::size_t>{120, 40}, {60, 300}, {200, 3}}) {
        Problem problem(random.matrix(n, d), random.matrix(4, d));
        for (const SetKind kind : {SetKind::simplex, SetKind::cone}) {
            const Update update = problem.update(kind);
            auto rest = problem.v;
            const auto u = problem.direction_of(update);
            for (std::size_t j = 0; j < d; ++j) rest[j] -= u[j];
            double most = -1e300, common = 0;
            for (std::size_t b = 0; b < n; ++b) {
                const std::vector<double> row(problem.gradients.row(b).begin(),
                                              problem.gradients.row(b).end());
                most = std::max(most, inner(row, rest));
                common += update.weights[b] * inner(row, rest);
            }
            EXPECT_LE(most, (kind == SetKind::simplex ? common : 0) + 1e-9);
            if (kind == SetKind::cone) {
                EXPECT_NEAR(common, 0, 1e-9);
            }
        }
    }
}

TEST(DrSets, ASolverThatBeginsAnewFindsTheSame) {
    RandomNumbers random(7);
    for (int round = 0; round < 50; ++round) {
        const Matrix g = random.matrix(12, 6), targets = random.matrix(5, 6);
        Problem kept(g, targets);
        for (std::size_t i = 0; i < targets.rows; ++i) {
            const auto others = target_direction(kept.solver.statistics(), i);
            Problem anew(g, targets);
            for (const SetKind kind : {SetKind::simplex, SetKind::cone, SetKind::subspace})
                EXPECT_NEAR(
                    *kept.solver.closeness(kept.solver.update(kind, {}, others), others).distance2,
                    *anew.solver.closeness(anew.solver.update(kind, {}, others), others).distance2,
                    1e-11);
        }
    }
}

TEST(DrSets, SubspaceIsRidge) {
    RandomNumbers random(8);
    for (int round = 0; round < 100; ++round) {
        Problem problem = random_problem(random);
        const std::size_t n = problem.gradients.rows;
        const double ridge = std::pow(10, -4 * random.uniform());
        Matrix a = problem.solver.statistics().gram;
        double trace = 0;
        for (std::size_t b = 0; b < n; ++b) trace += a(b, b);
        for (std::size_t b = 0; b < n; ++b) a(b, b) += ridge * trace / static_cast<double>(n);
        const auto expected = solution(a, problem.direction.scores);
        if (!expected) continue;
        const auto update = problem.update(SetKind::subspace, {.ridge = ridge});
        for (std::size_t b = 0; b < n; ++b) EXPECT_NEAR(update.weights[b], (*expected)[b], 1e-8);
    }
    // No gradients at all.
    Problem nothing(Matrix(3, 2), Matrix(1, 2));
    EXPECT_THAT(nothing.update(SetKind::subspace).weights, ElementsAre(0, 0, 0));
    // Below rounding where rows hang together.
    Matrix g(2, 1), t(1, 1);
    g.values = {1, 1};
    EXPECT_THROW(Problem(g, t).update(SetKind::subspace, {.ridge = 1e-18}), SetRefused);
}

TEST(DrSets, BallRoundsAndHalfspaceProjects) {
    RandomNumbers random(9);
    int reached = 0, cut = 0, opposed = 0;
    for (int round = 0; round < 200; ++round) {
        Problem problem = random_problem(random);
        const auto c = sum_of_rows(problem.gradients, problem.w);
        const double radius = 2 * random.uniform(), rho = radius * std::sqrt(inner(c, c)),
                     away = std::sqrt(distance2(problem.v, c)), t = std::min(1.0, rho / away);
        auto expected = c;
        for (std::size_t j = 0; j < c.size(); ++j) expected[j] += t * (problem.v[j] - c[j]);
        const Update ball = problem.update(SetKind::ball, {.radius = radius});
        EXPECT_NEAR(distance2(problem.direction_of(ball), expected), 0, 1e-20);
        EXPECT_NEAR(ball.target_weight, t, 1e-12);
        ++(t < 1 ? cut : reached);

        const double along = inner(problem.v, c);
        expected = problem.v;
        if (along < 0)
            for (std::size_t j = 0; j < c.size(); ++j) expected[j] -= along / inner(c, c) * c[j];
        opposed += along < 0 ? 1 : 0;
        const Update half = problem.update(SetKind::halfspace);
        EXPECT_NEAR(distance2(problem.direction_of(half), expected), 0, 1e-20);
        EXPECT_EQ(half.target_weight, 1);
        EXPECT_GE(inner(problem.direction_of(half), c), -1e-12);
    }
    EXPECT_GT(std::min({reached, cut, opposed}), 20);
}

TEST(DrSets, LargerSetsComeNearer) {
    RandomNumbers random(10);
    for (int round = 0; round < 100; ++round) {
        Problem problem(random.matrix(6, 4), random.matrix(2, 4));
        const auto distance = [&](SetKind kind, SetSettings settings = {}) {
            return distance2(problem.direction_of(problem.update(kind, settings)), problem.v);
        };
        const double simplex = distance(SetKind::simplex), cone = distance(SetKind::cone);
        EXPECT_LE(simplex, distance(SetKind::full) + 1e-12);
        for (std::size_t k = 1; k <= 6; ++k) {
            const double exact = distance(SetKind::exact, {.k = k});
            EXPECT_LE(simplex, exact + 1e-12);
            EXPECT_LE(exact, distance(SetKind::topk, {.k = k}) + 1e-12);
            EXPECT_LE(exact, distance(SetKind::greedy, {.k = k}) + 1e-12);
        }
        EXPECT_LE(cone, simplex + 1e-12);
        EXPECT_LE(distance(SetKind::subspace, {.ridge = 1e-9}), cone + 1e-6);
        EXPECT_EQ(distance(SetKind::target), 0);
    }
}

TEST(DrSets, WhatCancelsCountsAsNothing) {
    Matrix g(2, 1), t(1, 1);
    g.values = {0.1, -0.1};
    t.values = {1};
    Problem problem(g, t);
    const auto found = problem.solver.closeness(problem.update(SetKind::full), problem.direction);
    EXPECT_EQ(found.norm2, 0);
    EXPECT_DOUBLE_EQ(*found.distance2, 1);
    EXPECT_EQ(problem.update(SetKind::halfspace).target_weight, 1);
}

TEST(DrSets, WithoutTargetGramOnlyWhatNeedsItIsRefused) {
    RandomNumbers random(11);
    auto statistics = statistics_of(random.matrix(4, 3), random.matrix(2, 3));
    statistics.target_gram.reset();
    GroupSolver solver(statistics, row_weights({}, 4));
    const auto direction = target_direction(solver.statistics());
    for (const SetKind kind : set_kinds) {
        if (needs_target_norm(kind)) {
            EXPECT_THROW(solver.update(kind, {}, direction), SetRefused);
            continue;
        }
        const auto found = solver.closeness(solver.update(kind, {.k = 2}, direction), direction);
        EXPECT_FALSE(found.distance2);
    }
}

TEST(DrSets, HaveNames) {
    for (const SetKind kind : set_kinds) EXPECT_EQ(of_word<SetKind>(to_string(kind)), kind);
    EXPECT_EQ(to_string(SetKind::halfspace), "halfspace");
    EXPECT_FALSE(of_word<SetKind>("hull"));
    EXPECT_EQ(rows_of_fraction(0.5, 7), 3U);
    EXPECT_EQ(rows_of_fraction(0, 7), 1U);
    EXPECT_EQ(rows_of_fraction(1, 7), 7U);
}

}  // namespace
}  // namespace assay::dr_post_training
