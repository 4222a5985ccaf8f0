#include "impls/plato/policy/plan_text.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace assay::plato {
namespace {

PlanParser parsed(std::string_view text) {
    PlanParser plan;
    plan.feed(text);
    plan.finish();
    return plan;
}

std::vector<std::vector<int>> dependencies(const PlanParser& plan) {
    std::vector<std::vector<int>> all;
    for (const PlannedNode& node : plan.nodes()) all.push_back(node.dependencies);
    return all;
}

std::vector<std::string> titles(const PlanParser& plan) {
    std::vector<std::string> all;
    for (const PlannedNode& node : plan.nodes()) all.push_back(node.title);
    return all;
}

using Lists = std::vector<std::vector<int>>;
using Texts = std::vector<std::string>;

TEST(PlanTextTest, ReadsNodesTheirDependenciesAndDifficulties) {
    const auto plan = parsed(
        "1. Why it matters | deps: -\n\n 2 .\tWhat it costs|deps:1|d: 3\r\n"
        "3. Who pays | deps: 2, 1 ,1\nEND\nnothing more\n");
    EXPECT_EQ(titles(plan), (Texts{"Why it matters", "What it costs", "Who pays"}));
    EXPECT_EQ(dependencies(plan), (Lists{{}, {1}, {1, 2}}));
    EXPECT_FALSE(plan.nodes()[0].difficulty);
    EXPECT_EQ(plan.nodes()[1].difficulty, 3);
    EXPECT_EQ(plan.warnings(), Texts{});
    EXPECT_EQ(plan.dropped_dependencies(), Texts{});
    EXPECT_EQ(plan.dropped_nodes(), 0);
    EXPECT_FALSE(plan.truncated());
    EXPECT_FALSE(plan.fallback());
}

TEST(PlanTextTest, DependenciesOnTheNodeItselfOrNoneBeforeAreDropped) {
    const auto plan = parsed("1. a | deps: 1,2,0\n3. b | deps: 1, 3, 9\n4. c | deps: 0-9, 3\nEND");
    EXPECT_EQ(dependencies(plan), (Lists{{}, {1}, {1, 2}}));
    EXPECT_EQ(plan.dropped_dependencies(),
              (Texts{"dropped: line 1: node 1 after 1: the node itself",
                     "dropped: line 1: node 1 after 2: no node 2 before it",
                     "dropped: line 1: node 1 after 0: no node 0 before it",
                     "dropped: line 2: node 3 after 3: the node itself",
                     "dropped: line 2: node 3 after 9: no node 9 before it",
                     "dropped: line 3: node 4 after 0: no node 0 before it",
                     "dropped: line 3: node 4 after 9: no node 9 before it"}));
    EXPECT_EQ(plan.warnings(), Texts{"warning: line 2: node 3: the number to come was 2"});
    EXPECT_FALSE(plan.truncated()) << "END counts unfinished too";
}

TEST(PlanTextTest, ALineThatIsNoNodeIsPassedOverAndChangesNoOther) {
    for (const char* line :
         {"Here is the plan:", "```", "## Plan:", "<think>", "| deps: 1", "2.", "2. a",
          "2. | deps: 1", "* | deps: -", "1. First deps: -", "END of it", "\xff"}) {
        const auto plan = parsed("1. a | deps: -\n " + std::string(line) +
                                 " \n2. b | deps: -\n3. c | deps: 1\nEND\n");
        EXPECT_EQ(titles(plan), (Texts{"a", "b", "c"})) << line;
        EXPECT_EQ(dependencies(plan), (Lists{{}, {}, {1}})) << line;
        EXPECT_EQ(plan.repaired(), 1) << line;
        EXPECT_EQ(plan.warnings().at(0).find("warning: line 2: \""), 0U) << plan.warnings()[0];
    }
    EXPECT_EQ(parsed("\n \t\n---\n* * *\n1. a | deps: -\nEND").repaired(), 0) << "blank lines";
    EXPECT_TRUE(parsed("I cannot plan that.\n").fallback());
    EXPECT_EQ(
        parsed(std::string(59, 'a') + "ä is long\n").warnings()[0],
        "warning: line 1: \"" + std::string(59, 'a') + "…\" is no line of a plan: passed over");
}

TEST(PlanTextTest, NumbersOfUsualFormsAreRead) {
    const auto plan = parsed(
        "\xef\xbb\xbf**Step 1:** Soil | DEPS: -\n- 2) Seeds | deps: 1\n"
        "STEP 3 : Water | **deps:** 1, 2\n４．Ｓｕｎ｜ｄｅｐｓ：１，３\n# 5.\xc2\xa0"
        "Wind\xe3\x80\x80| d: 2 | deps: 4.\n**END.**\n6. no more | deps: -\n");
    EXPECT_EQ(titles(plan), (Texts{"Soil", "Seeds", "Water", "Sun", "Wind"}));
    EXPECT_EQ(dependencies(plan), (Lists{{}, {1}, {1, 2}, {1, 3}, {4}}));
    EXPECT_EQ(plan.nodes()[4].difficulty, 2);
    EXPECT_EQ(plan.warnings(), Texts{});
    EXPECT_EQ(plan.dropped_dependencies(), Texts{});
}

TEST(PlanTextTest, AnotherNumberStandsAsItIsWritten) {
    const auto twice = parsed(
        "1. a | deps: -\n2. b | deps: 1\n2. c | deps: -\n3. d | deps: 2\n7. e | deps: 3\n"
        "4. f | deps: 2-6\nfree of numbers | deps: 7\nEND\n");
    EXPECT_EQ(dependencies(twice), (Lists{{}, {1}, {}, {2, 3}, {4}, {2, 3, 4}, {5}}));
    EXPECT_EQ(twice.warnings(), (Texts{"warning: line 3: node 2: the number to come was 3",
                                       "warning: line 5: node 7: the number to come was 4",
                                       "warning: line 6: node 4: the number to come was 8",
                                       "warning: line 7: node 5: it has no number"}));
    EXPECT_EQ(twice.dropped_dependencies(),
              Texts{"dropped: line 6: node 4 after 6: no node 6 before it"});
    EXPECT_EQ(titles(parsed("Step by step | deps: -\n3 | deps: -\n"))[0], "Step by step");
}

TEST(PlanTextTest, ListsMeanWhatAReaderTakesThemFor) {
    const std::string three = "1. a | deps: -\n2. b | deps: -\n3. c | deps: -\n";
    for (const auto& [list, expected] :
         std::initializer_list<std::pair<const char*, std::vector<int>>>{
             {"", {}},
             {"-", {}},
             {"–", {}},
             {"—", {}},
             {"None", {}},
             {"n/a", {}},
             {"[]", {}},
             {"(none)", {}},
             {"1 and 2", {1, 2}},
             {"1, 2, and 3", {1, 2, 3}},
             {"1-3", {1, 2, 3}},
             {"1 – 2", {1, 2}},
             {"2—3, 1", {1, 2, 3}},
             {"#1, #2", {1, 2}},
             {"Step 1 & step 3", {1, 3}},
             {"[1, 2]", {1, 2}},
             {"1;3", {1, 3}},
             {"3 2", {2, 3}},
             {"step 1-step 2", {1, 2}},
             {"02", {2}}}) {
        const auto plan = parsed(three + "4. d | deps: " + list + "\nEND\n");
        EXPECT_EQ(dependencies(plan).back(), expected) << list;
        EXPECT_EQ(plan.warnings(), Texts{}) << list;
        EXPECT_EQ(plan.dropped_dependencies(), Texts{}) << list;
    }
    for (const char* list : {"one", "-1", "3-1", "1.5", "1-", "- 1", "none, 1", "1-2-3", "- -", "#",
                             "step", "1 or 2", "andy", "a"}) {
        const auto plan = parsed(three + "4. d | deps: " + list + "\n5. e | deps: 4\nEND\n");
        EXPECT_EQ(dependencies(plan), (Lists{{}, {}, {}, {1, 2, 3}, {4}})) << list;
        EXPECT_EQ(plan.warnings(), Texts{"warning: line 4: node 4: \"" + std::string(list) +
                                         "\" is no list: after all before it"});
    }
}

TEST(PlanTextTest, OtherPartsArePassedOverAndALineCountsOnce) {
    const auto plan = parsed(
        "1. a | d: 6 | deps: - | why: because | d: 2\n2. b | deps: - | deps: 1 | d: 3 | d: 4\n"
        "3. c | deps 1\n9 d | x\nEND\n");
    EXPECT_EQ(dependencies(plan), (Lists{{}, {}, {1, 2}, {1, 2, 3}}));
    EXPECT_EQ(plan.nodes()[0].difficulty, 2);
    EXPECT_EQ(plan.nodes()[1].difficulty, 3);
    EXPECT_EQ(
        plan.warnings(),
        (Texts{
            R"(warning: line 1: node 1: "d: 6" is passed over; "why: because" is passed over)",
            R"(warning: line 2: node 2: "deps: 1" is passed over; "d: 4" is passed over)",
            R"(warning: line 3: node 3: "deps 1" is passed over; it has no deps: after all before it)",
            R"(warning: line 4: node 4: it has no number; "x" is passed over; it has no deps: after all before it)"}));
}

TEST(PlanTextTest, TheLastLineCountsWithoutALineFeed) {
    const auto plan = parsed("1. a | deps: -\n2. b | deps: 1\n3. c | deps: 2");
    EXPECT_EQ(dependencies(plan), (Lists{{}, {1}, {2}}));
    EXPECT_TRUE(plan.truncated());
    EXPECT_TRUE(parsed("1. a | deps: -\n ").truncated()) << "a blank one too";
    EXPECT_FALSE(parsed("1. a | deps: -\n").truncated());
    EXPECT_FALSE(parsed("1. a | deps: -\nEND\r").truncated());
    EXPECT_FALSE(parsed("1. a | deps: -\n end.").truncated());
    EXPECT_FALSE(parsed("1. a | deps: -").fallback());
    EXPECT_TRUE(parsed("").fallback());
    EXPECT_TRUE(parsed("END\n1. a | deps: -\n").fallback());
}

TEST(PlanTextTest, TenNodesAreTheMost) {
    std::string text;
    for (int i = 1; i <= 13; ++i) text += std::to_string(i) + ". a | deps: -\n\n";
    const auto plan = parsed(text + "14. a | deps: 99\n7. a\nb | deps: 1\n");
    EXPECT_EQ(plan.nodes().size(), 10U);
    EXPECT_EQ(plan.dropped_nodes(), 5);
    EXPECT_EQ(plan.dropped_dependencies(), Texts{});
    EXPECT_EQ(plan.repaired(), 1) << "a line that is none";
}

// However the text is cut, the plan is the same, and nothing in it breaks the rules of a plan.
TEST(PlanTextTest, AnyTextIsAPlanHoweverItIsCut) {
    std::mt19937_64 random(7);
    const std::string_view pieces[] = {
        "1", "2",    "3.", " ",    "|",    "deps:", "-", ",", "\n", "END",          "a",    "d:",
        "4", "\r\n", "\t", "\xff", "Step", "and",   "–", "*", "#",  "\xef\xbd\x9c", "none", ")"};
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
        EXPECT_EQ(cut.warnings(), whole.warnings());
        EXPECT_EQ(cut.dropped_dependencies(), whole.dropped_dependencies());
    }
}

}  // namespace
}  // namespace assay::plato
