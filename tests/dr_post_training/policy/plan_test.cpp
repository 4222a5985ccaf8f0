// Plans of several layers, worked out a second time on the gradients themselves.
#include "impls/dr_post_training/policy/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "impls/dr_post_training/policy/sets/group_solver.hpp"
#include "tests/dr_post_training/policy/random_gradients.hpp"

namespace assay::dr_post_training {
namespace {

using ::testing::ElementsAre;
using Rows = std::vector<std::size_t>;

struct Case {
    PlanInput input;
    std::vector<Matrix> gradients, targets;  ///< of each layer

    void add(const std::string& name, std::optional<std::string> block,
             std::optional<std::string> part, Matrix g, Matrix t) {
        input.layers.push_back({name, std::move(block), std::move(part), statistics_of(g, t)});
        gradients.push_back(std::move(g));
        targets.push_back(std::move(t));
    }
};

Case random_case(RandomNumbers& random, std::size_t n, std::size_t m) {
    Case made;
    const auto add = [&](const char* name, std::optional<std::string> block,
                         std::optional<std::string> part) {
        const std::size_t d = 1 + random.below(6);
        made.add(name, std::move(block), std::move(part), random.matrix(n, d), random.matrix(m, d));
    };
    add("embedding", {}, {});
    add("0/query", "0", "attention");
    add("0/up", "0", "ffn");
    add("1/query", "1", "attention");
    add("0/key", "0", "attention");
    add("1/norm", "1", {});
    add("head", {}, "ffn");
    for (std::size_t b = 0; b < n; ++b) made.input.tokens.push_back(1.0 + double(random.below(9)));
    return made;
}

/// The layers' gradients side by side.
Matrix joined(const std::vector<Matrix>& parts, const Rows& layers) {
    std::size_t width = 0;
    for (const std::size_t layer : layers) width += parts[layer].columns;
    Matrix all(parts[layers.front()].rows, width);
    std::size_t at = 0;
    for (const std::size_t layer : layers) {
        for (std::size_t b = 0; b < all.rows; ++b)
            for (std::size_t j = 0; j < parts[layer].columns; ++j)
                all(b, at + j) = parts[layer](b, j);
        at += parts[layer].columns;
    }
    return all;
}

Matrix without_row(const Matrix& rows, std::size_t row) {
    Matrix rest(rows.rows - 1, rows.columns);
    for (std::size_t b = 0, to = 0; b < rows.rows; ++b)
        if (b != row) {
            for (std::size_t j = 0; j < rows.columns; ++j) rest(to, j) = rows(b, j);
            ++to;
        }
    return rest;
}

TEST(DrPartitions, GroupLayersByWhereTheyStand) {
    RandomNumbers random(1);
    const Case made = random_case(random, 3, 1);
    const auto groups = [&](Partition partition) {
        return groups_of(made.input.layers, partition);
    };
    EXPECT_THAT(groups(Partition::global), ElementsAre(Rows{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_THAT(groups(Partition::block), ElementsAre(Rows{0}, Rows{1, 2, 4}, Rows{3, 5}, Rows{6}));
    EXPECT_THAT(groups(Partition::sublayer),
                ElementsAre(Rows{0}, Rows{1, 4}, Rows{2}, Rows{3}, Rows{5}, Rows{6}));
    EXPECT_EQ(groups(Partition::layer).size(), 7U);
    for (const Partition partition : partitions)
        EXPECT_EQ(of_word<Partition>(to_string(partition)), partition);
    EXPECT_FALSE(of_word<Partition>("module"));
}

TEST(DrPlan, GroupsAndTotalsAreThoseOfTheVectors) {
    RandomNumbers random(2);
    for (int round = 0; round < 20; ++round) {
        const Case made = random_case(random, 2 + random.below(5), 1 + random.below(3));
        const std::size_t n = made.input.rows();
        for (const Partition partition : partitions)
            for (const SetKind set : set_kinds) {
                const PlanRequest request{
                    .set = set, .partition = partition, .settings = {.k = 1 + n / 2}};
                const Plan plan = make_plan(made.input, request);
                double dot = 0, norm2 = 0, target = 0, distance = 0;
                for (const PlannedGroup& group : plan.groups) {
                    const Matrix g = joined(made.gradients, group.layers);
                    const auto v = mean_row(joined(made.targets, group.layers));
                    auto u = sum_of_rows(g, group.update.weights);
                    for (std::size_t j = 0; j < u.size(); ++j)
                        u[j] += group.update.target_weight * v[j];
                    EXPECT_NEAR(group.closeness.dot, inner(u, v), 1e-10);
                    dot += inner(u, v);
                    norm2 += inner(u, u);
                    target += inner(v, v);
                    distance += distance2(u, v);
                    const auto w = row_weights(made.input.tokens, n);
                    for (std::size_t b = 0; b < n; ++b) {
                        const std::vector<double> row(g.row(b).begin(), g.row(b).end());
                        EXPECT_NEAR(group.scores[b], double(n) * w[b] * inner(row, v), 1e-10);
                    }
                }
                EXPECT_NEAR(plan.total.dot, dot, 1e-9);
                EXPECT_NEAR(plan.total.norm2, norm2, 1e-9);
                EXPECT_NEAR(*plan.total.target_norm2, target, 1e-9);
                EXPECT_NEAR(*plan.total.distance2, distance, 1e-9);
                EXPECT_NEAR(*plan.total.cosine, norm2 > 0 ? dot / std::sqrt(norm2 * target) : 0,
                            1e-9);
            }
    }
}

TEST(DrPlan, ComparesByTargetRowsThatAnUpdateDidNotSee) {
    RandomNumbers random(3);
    for (int round = 0; round < 10; ++round) {
        const std::size_t n = 2 + random.below(4), m = 2 + random.below(3);
        const Case made = random_case(random, n, m);
        const SetSettings settings{.k = 1 + n / 2, .drop = 0.5, .radius = 0.5};
        const Plan plan =
            make_plan(made.input, {.set = SetKind::full, .settings = settings, .compare = true});
        ASSERT_EQ(plan.compared.size(), partitions.size() * set_kinds.size());
        double most = -1e300;
        for (std::size_t at = 0; at < plan.compared.size(); ++at) {
            const ComparedSet& one = plan.compared[at];
            EXPECT_EQ(one.partition, partitions[at / set_kinds.size()]);
            EXPECT_EQ(one.set, set_kinds[at % set_kinds.size()]);
            std::vector<double> gains;
            for (std::size_t i = 0; i < m; ++i) {
                double along = 0, norm2 = 0;
                for (const Rows& layers : groups_of(made.input.layers, one.partition)) {
                    const Matrix g = joined(made.gradients, layers),
                                 targets = joined(made.targets, layers),
                                 others = without_row(targets, i);
                    GroupSolver solver(statistics_of(g, others), row_weights(made.input.tokens, n));
                    const Update update =
                        solver.update(one.set, settings, target_direction(solver.statistics()));
                    auto u = sum_of_rows(g, update.weights);
                    const auto v = mean_row(others);
                    for (std::size_t j = 0; j < u.size(); ++j) u[j] += update.target_weight * v[j];
                    along += inner(u, {targets.row(i).begin(), targets.row(i).end()});
                    norm2 += inner(u, u);
                }
                gains.push_back(norm2 > 0 ? along / std::sqrt(norm2) : 0);
            }
            const double mean =
                std::accumulate(gains.begin(), gains.end(), 0.0) / static_cast<double>(m);
            double squares = 0;
            for (const double gain : gains) squares += (gain - mean) * (gain - mean);
            EXPECT_NEAR(*one.gain, mean, 1e-7) << to_string(one.set);
            EXPECT_NEAR(*one.gain_se, std::sqrt(squares / double(m - 1) / double(m)), 1e-7);
            most = std::max(most, *one.gain);
        }
        ASSERT_TRUE(plan.recommended);
        EXPECT_NEAR(*plan.compared[*plan.recommended].gain, most, 1e-9);
    }
}

TEST(DrPlan, WithOneTargetRowNothingIsRecommended) {
    RandomNumbers random(4);
    const Case made = random_case(random, 4, 1);
    const Plan plan = make_plan(made.input, {.settings = {.k = 2}, .compare = true});
    EXPECT_EQ(plan.compared.size(), 44U);
    for (const ComparedSet& one : plan.compared) {
        EXPECT_FALSE(one.gain);
        EXPECT_FALSE(one.gain_se);
    }
    EXPECT_FALSE(plan.recommended);
    EXPECT_TRUE(make_plan(made.input, {}).compared.empty());
}

TEST(DrPlan, WhatIsRefusedIsNotCompared) {
    RandomNumbers random(5);
    Case made = random_case(random, 4, 3);
    made.input.layers[2].statistics.target_gram.reset();
    const Plan plan = make_plan(made.input, {.settings = {.k = 2}, .compare = true});
    std::size_t needing = 0;
    for (const ComparedSet& one : plan.compared) needing += needs_target_norm(one.set) ? 1 : 0;
    // In the partition by layers no group but the one without is refused, and so all of the set is.
    EXPECT_EQ(needing, 0U);
    EXPECT_EQ(plan.compared.size(), 4 * 8U);
    EXPECT_TRUE(plan.recommended);
    EXPECT_FALSE(plan.total.distance2);
    EXPECT_FALSE(plan.total.target_norm2);
    EXPECT_FALSE(plan.total.cosine);
    EXPECT_THROW(make_plan(made.input, {.set = SetKind::target}), SetRefused);

    const Case many = random_case(random, 24, 2);
    EXPECT_EQ(make_plan(many.input, {.settings = {.k = 12}, .compare = true}).compared.size(),
              4 * 10U);
}

TEST(DrPlan, TheFirstOfEqualGainsIsRecommended) {
    std::vector<ComparedSet> compared(4);
    const double gains[] = {0.5, 2 - 1e-10, 2, 1};
    for (std::size_t i = 0; i < compared.size(); ++i) compared[i].gain = gains[i];
    EXPECT_EQ(first_largest_gain(compared), 1U);
    compared[1].gain = 2 - 1e-8;
    EXPECT_EQ(first_largest_gain(compared), 2U);
    for (ComparedSet& one : compared) one.gain = *one.gain - 3;
    EXPECT_EQ(first_largest_gain(compared), 2U);
    EXPECT_FALSE(first_largest_gain({}));
}

TEST(DrPlan, SourcesAreWorthWhatTheirRowsAre) {
    RandomNumbers random(6);
    for (int round = 0; round < 50; ++round) {
        Case made = random_case(random, 6, 2);
        made.input.sources = {"flan", "alpaca", "flan", "dolly", "alpaca", "flan"};
        const Plan plan = make_plan(made.input, {.set = SetKind::topk, .settings = {.k = 3}});
        ASSERT_EQ(plan.sources.size(), 3U);
        const std::vector<Rows> rows{{0, 2, 5}, {1, 4}, {3}};
        const std::vector<std::string> names{"flan", "alpaca", "dolly"};
        Rows layers(7);
        std::iota(layers.begin(), layers.end(), std::size_t{0});
        const Matrix g = joined(made.gradients, layers);
        const auto v = mean_row(joined(made.targets, layers));
        const auto w = row_weights(made.input.tokens, 6);
        Matrix means(3, g.columns);
        for (std::size_t s = 0; s < 3; ++s) {
            const PlannedSource& source = plan.sources[s];
            EXPECT_EQ(source.source, names[s]);
            EXPECT_EQ(source.rows, rows[s].size());
            double score = 0, weight = 0, kept = 0;
            for (const std::size_t b : rows[s]) {
                score += inner({g.row(b).begin(), g.row(b).end()}, v) / double(rows[s].size());
                weight += w[b];
                for (const PlannedGroup& group : plan.groups)
                    kept += double(std::count(group.update.selected->begin(),
                                              group.update.selected->end(), b));
            }
            for (const std::size_t b : rows[s])
                for (std::size_t j = 0; j < g.columns; ++j) means(s, j) += w[b] / weight * g(b, j);
            EXPECT_NEAR(source.score, score, 1e-10);
            EXPECT_NEAR(*source.kept, kept / double(rows[s].size() * plan.groups.size()), 1e-12);
        }
        GroupSolver solver(statistics_of(means,
                                         [&] {
                                             Matrix one(1, v.size());
                                             one.values = v;
                                             return one;
                                         }()),
                           row_weights({}, 3));
        const auto direction = target_direction(solver.statistics());
        const Update expected = solver.update(SetKind::simplex, {}, direction);
        for (std::size_t s = 0; s < 3; ++s)
            EXPECT_NEAR(plan.sources[s].weight, expected.weights[s], 1e-9);
        EXPECT_FALSE(make_plan(made.input, {.set = SetKind::cone}).sources.front().kept);
    }
}

/// A plan does not hang on the order of rows, nor on the size of gradients.
TEST(DrPlan, FollowsRowsAndScale) {
    RandomNumbers random(7);
    for (int round = 0; round < 30; ++round) {
        const std::size_t n = 6;
        const Matrix g = random.matrix(n, 4), t = random.matrix(2, 4);
        Matrix turned(n, 4), small = g, small_target = t;
        for (std::size_t b = 0; b < n; ++b)
            for (std::size_t j = 0; j < 4; ++j) turned(b, j) = g(n - 1 - b, j);
        for (double& value : small.values) value *= 1e-9;
        for (double& value : small_target.values) value *= 1e-9;
        const auto planned = [&](const Matrix& gradients, const Matrix& target, SetKind set) {
            PlanInput input;
            input.layers.push_back({"a", {}, {}, statistics_of(gradients, target)});
            return make_plan(input, {.set = set, .settings = {.k = 3}}).groups.front().update;
        };
        for (const SetKind set : set_kinds) {
            if (set == SetKind::greedy) continue;  // its step size is no share of anything
            const Update one = planned(g, t, set), other = planned(turned, t, set),
                         smaller = planned(small, small_target, set);
            for (std::size_t b = 0; b < n; ++b) {
                EXPECT_NEAR(one.weights[b], other.weights[n - 1 - b], 1e-9) << to_string(set);
                EXPECT_NEAR(one.weights[b], smaller.weights[b], 1e-9) << to_string(set);
            }
        }
    }
}

}  // namespace
}  // namespace assay::dr_post_training
