// How choices of maps are compared, on choices made by hand.
#include "impls/dr_post_training/recipes/choice_study.hpp"

#include <gtest/gtest.h>

namespace assay::dr_post_training {
namespace {

TEST(ChoiceStudies, RankAsSpearmanDoes) {
    EXPECT_EQ(ranks_of(std::vector<double>{3, 1, 3, 2}), (std::vector<double>{3.5, 1, 3.5, 2}));
    const std::vector<double> a{1, 2, 3, 4}, up{10, 20, 25, 90}, down{4, 3, 2, 1}, flat{1, 1, 1, 1};
    EXPECT_DOUBLE_EQ(rank_correlation(a, up), 1);
    EXPECT_DOUBLE_EQ(rank_correlation(a, down), -1);
    EXPECT_EQ(rank_correlation(a, flat), 0);
    EXPECT_NEAR(rank_correlation(a, std::vector<double>{1, 3, 2, 4}), 0.8, 1e-12);
}

TEST(ChoiceStudies, CompareWithOneChoiceForAll) {
    EXPECT_EQ(jaccard({0, 1}, {1, 2}), 1.0 / 3);
    EXPECT_EQ(jaccard({}, {}), 1);
    ChoiceStudy study;
    // Sums of scores: 5, 1, 4, -3: one choice for all takes rows 0 and 2.
    study.add({{"layer0/up", {{4, 0, 1, -2}, {0, 2}}},
               {"layer1/up", {{1, 1, 3, -1}, {2, 0}}},
               {"layer1/down", {{0, 0, 0, 0}, {0, 1}}}});
    study.add({{"layer0/up", {{1, 2, 0, 0}, {0, 1}}},
               {"layer1/up", {{0, 0, 1, 2}, {2, 3}}},
               {"layer1/down", {{0, 0, 0, 0}, {0, 1}}}});
    EXPECT_EQ(study.steps(), 2U);
    EXPECT_EQ(study.patterns(), 2);  // {0, 2} twice and {0, 1}; {0, 1} twice and {2, 3}
    EXPECT_EQ(study.agreement(), (1 + 0) / 2.0);
    const auto maps = study.maps();
    EXPECT_DOUBLE_EQ(maps.at("layer0/up").mean_score, (7.0 / 4 + 3.0 / 4) / 2);
    // Second step: sums 1, 2, 1, 2; for all rows 1 and 3.
    EXPECT_DOUBLE_EQ(maps.at("layer0/up").jaccard, (1 + 1.0 / 3) / 2);
    EXPECT_EQ(maps.at("layer1/down").correlation, 0);
}

}  // namespace
}  // namespace assay::dr_post_training
