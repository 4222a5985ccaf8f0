#include "impls/plato/policy/plan_text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace assay::plato {
namespace {

PlanParser parsed(std::string_view text) {
    PlanParser plan;
    plan.feed(text);
    plan.finish();
    return plan;
}

TEST(PlanTextTest, ReadsNodesTheirDependenciesAndDifficulties) {
    const auto plan = parsed(
        "1. Why it matters | deps: -\n\n 2 .\tWhat it costs|deps:1|d: 3\r\n"
        "3. Who pays | deps: 2, 1 ,1\nEND\nnothing more\n");
    ASSERT_EQ(plan.nodes().size(), 3U);
    EXPECT_EQ(plan.nodes()[0].title, "Why it matters");
    EXPECT_TRUE(plan.nodes()[0].dependencies.empty());
    EXPECT_FALSE(plan.nodes()[0].difficulty);
    EXPECT_EQ(plan.nodes()[1].title, "What it costs");
    EXPECT_EQ(plan.nodes()[1].difficulty, 3);
    EXPECT_EQ(plan.nodes()[2].dependencies, (std::vector{1, 2}));
    EXPECT_EQ(plan.repaired() + plan.dropped_dependencies() + plan.dropped_nodes(), 0);
    EXPECT_FALSE(plan.truncated());
    EXPECT_FALSE(plan.fallback());
}

TEST(PlanTextTest, DependenciesOnTheNodeItselfOrALaterOneAreDropped) {
    const auto plan = parsed("1. a | deps: 1,2,0\n2. b | deps: 1,2,99999999999999999999\nEND");
    ASSERT_EQ(plan.nodes().size(), 2U);
    EXPECT_TRUE(plan.nodes()[0].dependencies.empty());
    EXPECT_EQ(plan.nodes()[1].dependencies, std::vector{1});
    EXPECT_EQ(plan.dropped_dependencies(), 5);
    EXPECT_FALSE(plan.truncated()) << "END counts unfinished too";
}

TEST(PlanTextTest, WhatIsNoNodeDependsOnTheOneBefore) {
    for (const char* line :
         {"hello", "3. wrong number | deps: 1", "2. | deps: 1", "2. a",
          "2. a | deps:", "2. a | deps: 1,,1", "2. a | deps: x", "2. a | deps: 1 | d: 6",
          "2. a | deps: 1 | d:", "2. a | deps: 1 | e: 2", "2. a | deps: 1 | d: 2 | d: 3",
          "- a | deps: 1", "end"}) {
        const auto plan = parsed("1. a | deps: -\n " + std::string(line) + " \nEND\n");
        ASSERT_EQ(plan.nodes().size(), 2U) << line;
        EXPECT_EQ(plan.repaired(), 1) << line;
        EXPECT_EQ(plan.nodes()[1].title, line);
        EXPECT_EQ(plan.nodes()[1].dependencies, std::vector{1}) << line;
    }
    const auto first = parsed("hello\n");
    ASSERT_EQ(first.nodes().size(), 1U);
    EXPECT_TRUE(first.nodes()[0].dependencies.empty());
}

TEST(PlanTextTest, AnUnfinishedLastLineIsDropped) {
    EXPECT_TRUE(parsed("1. a | deps: -\n2. b | deps: 1").truncated());
    EXPECT_EQ(parsed("1. a | deps: -\n2. b | deps: 1").nodes().size(), 1U);
    EXPECT_TRUE(parsed("1. a | deps: -\n ").truncated()) << "a blank one too";
    EXPECT_FALSE(parsed("1. a | deps: -\n").truncated());
    EXPECT_FALSE(parsed("1. a | deps: -\nEND\r").truncated());
    EXPECT_TRUE(parsed("1. a | deps: -").fallback());
    EXPECT_TRUE(parsed("").fallback());
    EXPECT_TRUE(parsed("END\n1. a | deps: -\n").fallback());
}

TEST(PlanTextTest, TenNodesAreTheMost) {
    std::string text;
    for (int i = 1; i <= 13; ++i) text += std::to_string(i) + ". a | deps: -\n\n";
    const auto plan = parsed(text);
    EXPECT_EQ(plan.nodes().size(), 10U);
    EXPECT_EQ(plan.dropped_nodes(), 3);
    EXPECT_EQ(plan.repaired(), 0);
}

// However the text is cut, the plan is the same, and nothing in it breaks the rules of a plan.
TEST(PlanTextTest, AnyTextIsAPlanHoweverItIsCut) {
    std::mt19937_64 random(7);
    const std::string_view pieces[] = {"1",  "2",   "3.", " ",  "|", "deps:", "-",  ",",
                                       "\n", "END", "a",  "d:", "4", "\r\n",  "\t", "\xff"};
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        const auto length = random() % 60;
        for (std::uint64_t i = 0; i < length; ++i) text += pieces[random() % std::size(pieces)];
        const auto whole = parsed(text);
        PlanParser cut;
        for (std::size_t at = 0; at < text.size();) {
            const auto size = 1 + random() % 5;
            cut.feed(std::string_view(text).substr(at, size));
            at += size;
        }
        cut.finish();
        ASSERT_EQ(cut.nodes().size(), whole.nodes().size());
        for (std::size_t i = 0; i < whole.nodes().size(); ++i) {
            const PlannedNode& node = whole.nodes()[i];
            EXPECT_EQ(cut.nodes()[i].title, node.title);
            EXPECT_EQ(cut.nodes()[i].dependencies, node.dependencies);
            EXPECT_FALSE(node.title.empty());
            for (const int dependency : node.dependencies) {
                EXPECT_GE(dependency, 1);
                EXPECT_LE(dependency, static_cast<int>(i));
            }
        }
        EXPECT_EQ(cut.truncated(), whole.truncated());
        EXPECT_EQ(cut.repaired(), whole.repaired());
    }
}

}  // namespace
}  // namespace assay::plato
