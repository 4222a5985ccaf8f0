// Routing replayed from a file: which iteration a step gets, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "impls/lazarus/training/routing_replay.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::lazarus {
namespace {

class RoutingFile : public ::testing::Test {
  protected:
    RoutingFile() {
        config_.model = {.layers = 1, .width = 8, .heads = 2, .experts = 2, .hidden = 8};
        config_.routing = file_.string();
        config_.modelled_steps = 10;
    }
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
    TrainingConfig config_;
};

TEST_F(RoutingFile, AStepGetsTheNearestIterationBefore) {
    put("1,0,9,0,0\n21,0,0,9,0\n25,0,9,0,0\n");
    const RoutingReplay replay(config_);
    EXPECT_EQ(only(replay, 0), 0);
    EXPECT_EQ(only(replay, 1), 0);   // iteration 11: still the first
    EXPECT_EQ(only(replay, 2), 1);   // 21
    EXPECT_EQ(only(replay, 3), 0);   // 31: the last
    EXPECT_EQ(only(replay, 99), 0);  // beyond the end
}

TEST_F(RoutingFile, TheModelTakesTheMostLoadedExperts) {
    put("1,0,0,1,9\n");  // its experts are e1 and e2
    const auto choices = RoutingReplay(config_).at(0).choices(0, 0, 2000);
    EXPECT_NEAR(static_cast<double>(std::count(choices.begin(), choices.end(), 1)), 1800, 100);
}

TEST_F(RoutingFile, WhatTheModelNeedsAndTheFileLacksIsToldAtOnce) {
    EXPECT_THROW(RoutingReplay{config_}, UserError);  // no file
    put("1,0,1,1,1\n");
    config_.model.layers = 2;
    EXPECT_THROW(RoutingReplay{config_}, UserError);
    config_.model.layers = 1;
    config_.model.experts = 4;
    EXPECT_THROW(RoutingReplay{config_}, UserError);
    config_.model.experts = 3;
    config_.modelled_steps = 0;
    EXPECT_THROW(RoutingReplay{config_}, UserError);
    config_.modelled_steps = 1;
    EXPECT_NO_THROW(RoutingReplay{config_});
    put("1,0,0,0,0\n");
    EXPECT_THROW(RoutingReplay{config_}, UserError);
}

}  // namespace
}  // namespace assay::lazarus
