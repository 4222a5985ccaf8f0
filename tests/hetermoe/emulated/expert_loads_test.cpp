// Skewed loads, and which experts move.
#include "impls/hetermoe/emulated/expert_loads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace assay::hetermoe {
namespace {

TEST(HetermoeExpertLoads, AreZipfsAndNoTokenNeedsAnExpertTwice) {
    for (const double skew : {0.0, 0.5, 1.0, 1.5, 8.0})
        for (std::vector<double> layer : zipf_loads(4, 8, skew, 2, 7)) {
            EXPECT_NEAR(std::accumulate(layer.begin(), layer.end(), 0.0), 1, 1e-9);
            std::sort(layer.begin(), layer.end(), std::greater<>());
            EXPECT_LE(layer.front(), 0.5 + 1e-9);
            if (skew <= 1) {  // 1 / 2.717… at 1: nothing is cut
                EXPECT_NEAR(layer[0] / layer[3], std::pow(4, skew), 1e-9);
            }
        }
    EXPECT_EQ(zipf_loads(2, 8, 1, 2, 7), zipf_loads(2, 8, 1, 2, 7));
    EXPECT_NE(zipf_loads(2, 8, 1, 2, 7), zipf_loads(2, 8, 1, 2, 8));
    EXPECT_NE(zipf_loads(2, 8, 1, 2, 7)[0], zipf_loads(2, 8, 1, 2, 7)[1]);
}

PacedStep skewed(double skew) {
    PacedStep step{.layout = {{1, 2}, 1, 2, {1, 1}, {0, 1, 2}}, .experts = 8};
    step.ranks = {{.attention = 0.5, .expert = 0.8}, {.expert = 1}, {.expert = 1}};
    step.loads = zipf_loads(2, 8, skew, 2, 3);
    return step;
}

double rows(const PacedStep& step, int rank) {
    const TaskKind kind = step.layout.is_attention(rank) ? TaskKind::XF : TaskKind::EF;
    return expected_rows(step, rank, {kind, 1, 1});
}

TEST(HetermoeExpertLoads, RenamingMovesThoseAskedFor) {
    PacedStep last = skewed(1), hottest = last, coldest = last, balanced = last;
    choose_moved(last, MovedExperts::last);
    EXPECT_EQ(last.loads, skewed(1).loads);
    choose_moved(hottest, MovedExperts::hottest);
    choose_moved(coldest, MovedExperts::coldest);
    choose_moved(balanced, MovedExperts::balanced);
    EXPECT_GT(rows(hottest, 0), rows(coldest, 0));
    for (const PacedStep* step : {&hottest, &coldest}) {
        // The experts of an expert GPU stay its own.
        for (std::size_t first : {0, 4}) {
            auto ours = step->loads[0], before = last.loads[0];
            std::sort(ours.begin() + long(first), ours.begin() + long(first) + 4);
            std::sort(before.begin() + long(first), before.begin() + long(first) + 4);
            EXPECT_TRUE(std::equal(ours.begin() + long(first), ours.begin() + long(first) + 4,
                                   before.begin() + long(first)));
        }
    }
    const auto worst = [](const PacedStep& step) {
        return std::max({0.5 + 0.8 * rows(step, 0), rows(step, 1), rows(step, 2)});
    };
    for (const PacedStep* step : {&last, &hottest, &coldest})
        EXPECT_LE(worst(balanced), worst(*step) + 1e-9);
    auto sorted = balanced.loads[0], before = last.loads[0];
    std::sort(sorted.begin(), sorted.end());
    std::sort(before.begin(), before.end());
    EXPECT_EQ(sorted, before);
}

}  // namespace
}  // namespace assay::hetermoe
