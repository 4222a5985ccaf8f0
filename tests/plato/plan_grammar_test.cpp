#include "impls/plato/policy/plan_grammar.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "impls/plato/policy/plan_text.hpp"

namespace assay::plato {
namespace {

constexpr const char* good =
    "1. One thing | deps: -\n2. Two | deps: 1\n3. Three | deps: 1,2\nEND\n";

TEST(PlanGrammarTest, TakesPlansAndNothingElse) {
    PlanGrammar grammar;
    EXPECT_TRUE(grammar.take(good));
    EXPECT_TRUE(grammar.complete());
    EXPECT_EQ(grammar.nodes(), 3);
    EXPECT_FALSE(grammar.take('\n'));
    for (const char* const wrong : {"2",
                                    "1)",
                                    "1.O",
                                    "1.  O",
                                    "1. |",
                                    "1. One|",
                                    "1. One  ",
                                    "1. One\n",
                                    "1. One | x",
                                    "1. One | deps:1",
                                    "1. One | deps: 1",
                                    "1. One | deps: -,",
                                    "1. One | deps: - ",
                                    "END",
                                    "1. One | deps: -\nEND",
                                    "1. One | deps: -\n2. Two | deps: 2",
                                    "1. *",
                                    "1. \xc2\xa0",
                                    "1. \xe3\x80\x80",
                                    "1. \xef\xbc\x8a",
                                    "1. One\xef\xbd\x9c",
                                    "1. One | deps: -\n2. Two | deps: 1,",
                                    "1. One | deps: -\n2. Two | deps: 11"}) {
        PlanGrammar other;
        EXPECT_FALSE(other.take(wrong)) << wrong;
        EXPECT_TRUE(other.take(good)) << "a refused text changed it: " << wrong;
    }
}

// Texts at random, always with a character that may come next: they come to an end, and the
// parser mends nothing.
TEST(PlanGrammarTest, WhatItTakesIsReadAsItStands) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 300; ++round) {
        PlanGrammar grammar;
        std::string text;
        while (!grammar.complete()) {
            ASSERT_LT(text.size(), 1500u) << text;
            std::string allowed;
            for (int c = 0; c < 256; ++c) {
                PlanGrammar next = grammar;
                if (next.take(static_cast<char>(c))) allowed += static_cast<char>(c);
            }
            ASSERT_FALSE(allowed.empty()) << text;
            text += allowed[random() % allowed.size()];
            ASSERT_TRUE(grammar.take(text.back()));
        }
        PlanParser parser;
        parser.feed(text);
        EXPECT_TRUE(parser.ended());
        EXPECT_EQ(static_cast<int>(parser.nodes().size()), grammar.nodes());
        EXPECT_EQ(parser.warnings(), std::vector<std::string>()) << text;
        EXPECT_EQ(parser.dropped_dependencies(), std::vector<std::string>()) << text;
    }
}

}  // namespace
}  // namespace assay::plato
