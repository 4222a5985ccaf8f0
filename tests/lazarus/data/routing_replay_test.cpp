// Routing replayed from a file: which iteration a step gets, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "impls/lazarus/data/routing_replay.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::lazarus {
namespace {

class RoutingFile : public ::testing::Test {
  protected:
    void put(const std::string& rows) {
        std::ofstream(file_) << "iteration,layer,e0,e1,e2\n" << rows;
    }
    // The one expert that has tokens.
    std::int64_t only(const RoutingReplay& replay, std::int64_t step) {
        const auto choices = replay.at(step).choices(0, 0, 20);
        EXPECT_EQ(choices, std::vector<std::int64_t>(20, choices[0]));
        return choices[0];
    }
    testing::TemporaryFolder folder_;
    const std::filesystem::path file_ = folder_ / "routing.csv";
    RoutingSource source_{
        .trace = file_.string(), .seed = 1, .modelled_steps = 10, .layers = 1, .experts = 2};
};

TEST_F(RoutingFile, AStepGetsTheNearestIterationBefore) {
    put("1,0,9,0,0\n21,0,0,9,0\n25,0,9,0,0\n");
    const RoutingReplay replay(source_);
    EXPECT_EQ(only(replay, 0), 0);
    EXPECT_EQ(only(replay, 1), 0);   // iteration 11: still the first
    EXPECT_EQ(only(replay, 2), 1);   // 21
    EXPECT_EQ(only(replay, 3), 0);   // 31: the last
    EXPECT_EQ(only(replay, 99), 0);  // beyond the end
}

// A price of one is the price of all.
TEST_F(RoutingFile, StepsThatReplayOneIterationRouteAlike) {
    put("1,0,5,4,1\n21,0,5,4,1\n");
    const RoutingReplay replay(source_);
    const auto rows = [&](std::int64_t step) { return replay.at(step).choices(0, 7, 50); };
    EXPECT_EQ(replay.iteration_at(1), 1);
    EXPECT_EQ(rows(0), rows(1));
    EXPECT_NE(rows(1), rows(2)) << "equal loads, another iteration";
    EXPECT_EQ(rows(2), rows(99));
    const RoutingReplay synthetic({.seed = 1, .modelled_steps = 10, .layers = 1, .experts = 2});
    EXPECT_EQ(synthetic.iteration_at(2), 21);
    EXPECT_NE(synthetic.at(1).choices(0, 0, 50), synthetic.at(2).choices(0, 0, 50));
}

TEST_F(RoutingFile, TheModelTakesTheMostLoadedExperts) {
    put("1,0,0,1,9\n");  // its experts are e1 and e2
    const auto choices = RoutingReplay(source_).at(0).choices(0, 0, 2000);
    EXPECT_NEAR(static_cast<double>(std::count(choices.begin(), choices.end(), 1)), 1800, 100);
}

TEST(StepRouting, CountsAreTheChoicesOfEachRank) {
    const StepRouting routing(3, 7, {{50, 30, 20}, {0, 1, 9}});
    constexpr int ranks = 4, rows = 25;
    const auto counts = routing.counts(1, ranks, rows);
    ASSERT_EQ(counts.size(), 3U * ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto choices = routing.choices(1, rank * rows, rows);
        for (int expert = 0; expert < 3; ++expert)
            EXPECT_EQ(counts[static_cast<std::size_t>(expert * ranks + rank)],
                      std::count(choices.begin(), choices.end(), expert));
    }
}

TEST(StepRouting, ManyRowsAreCountedTogetherEachExpertWithinARowOfItsShare) {
    const StepRouting routing(3, 7, {{0, 50, 30, 20}});
    constexpr int ranks = 50;
    constexpr std::int64_t rows = 5003;
    const auto counts = routing.counts(0, ranks, rows);
    for (int rank = 0; rank < ranks; ++rank) {
        Tokens sum = 0;
        for (int expert = 0; expert < 4; ++expert) {
            const Tokens here = counts[static_cast<std::size_t>(expert * ranks + rank)];
            constexpr double shares[] = {0, 0.5, 0.3, 0.2};
            EXPECT_LT(std::abs(double(here) - shares[expert] * rows), 1) << expert;
            sum += here;
        }
        EXPECT_EQ(sum, rows);
    }
    EXPECT_EQ(counts[0], 0);
}

TEST(RoutingReplay, LognormalLoadsHaveTheirSkewAndDrift) {
    const RoutingReplay replay({.trace = "lognormal:0.5", .seed = 5, .layers = 8, .experts = 256});
    EXPECT_EQ(replay.iteration_at(199), 1);
    EXPECT_EQ(replay.iteration_at(200), 201);
    double hottest = 0;
    std::int64_t moved = 0;
    for (int layer = 0; layer < 8; ++layer) {
        const auto before = replay.at(0).counts(layer, 1, 100000);
        const auto after = replay.at(200).counts(layer, 1, 100000);
        hottest += double(*std::max_element(before.begin(), before.end())) * 256 / 100000 / 8;
        for (std::size_t e = 0; e < before.size(); ++e) moved += std::abs(before[e] - after[e]);
    }
    EXPECT_NEAR(hottest, 3.8, 0.6);
    EXPECT_GT(moved, 8 * 100000 / 50);
    EXPECT_LT(moved, 8 * 100000 / 5);
    EXPECT_THROW(RoutingReplay({.trace = "lognormal:", .layers = 1, .experts = 2}), UserError);
    EXPECT_THROW(RoutingReplay({.trace = "lognormal:9", .layers = 1, .experts = 2}), UserError);
}

TEST_F(RoutingFile, WhatTheModelNeedsAndTheFileLacksIsToldAtOnce) {
    EXPECT_THROW(RoutingReplay{source_}, UserError);  // no file
    put("1,0,1,1,1\n");
    source_.layers = 2;
    EXPECT_THROW(RoutingReplay{source_}, UserError);
    source_.layers = 1;
    source_.experts = 4;
    EXPECT_THROW(RoutingReplay{source_}, UserError);
    source_.experts = 3;
    source_.modelled_steps = 0;
    EXPECT_THROW(RoutingReplay{source_}, UserError);
    source_.modelled_steps = 1;
    EXPECT_NO_THROW(RoutingReplay{source_});
    put("1,0,0,0,0\n");
    EXPECT_THROW(RoutingReplay{source_}, UserError);
}

}  // namespace
}  // namespace assay::lazarus
