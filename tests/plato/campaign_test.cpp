#include "impls/plato/campaign/virtual_schedule.hpp"

#include <gtest/gtest.h>

#include "impls/plato/policy/placement.hpp"

namespace assay::plato {
namespace {

TEST(PlatoCampaign, EveryRuleIsKept) {
    std::map<std::string, long> counts;
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        const drive::SeedOutcome outcome = run_virtual_schedule(seed);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << " (" << outcome.says
                                << ")";
        for (const auto& [name, count] : outcome.counts) counts[name] += count;
    }
    for (const char* const struck : {"fault.kill", "fault.hang", "fault.slow", "fault.corrupt",
                                     "fault.wipe", "refused", "given_up", "resumed"})
        EXPECT_GT(counts[struck], 0) << struck;
    // Some of those damaged are never heard: their engine is killed, or was given up.
    EXPECT_LE(counts["refused"], counts["damaged_reports"]);
}

TEST(PlatoCampaign, TheSameSeedIsTheSameSchedule) {
    for (std::uint64_t seed = 3; seed < 8; ++seed)
        EXPECT_EQ(run_virtual_schedule(seed, "plato"), run_virtual_schedule(seed, "plato"));
}

// Rules that nobody can break prove nothing.
TEST(PlatoCampaign, WhoDoesWrongIsFound) {
    for (const Misdeed misdeed :
         {Misdeed::believes_corruption, Misdeed::forgets_a_token, Misdeed::hears_the_lost,
          Misdeed::starts_early, Misdeed::keeps_a_part}) {
        int found = 0;
        for (std::uint64_t seed = 1; seed <= 150 && found == 0; ++seed)
            found += run_virtual_schedule(seed, "plato", misdeed).ok ? 0 : 1;
        EXPECT_EQ(found, 1) << static_cast<int>(misdeed);
    }
}

TEST(PlatoCampaign, AWipedCacheCostsPromptsAndNothingElse) {
    VirtualSetup setup = draw_setup(5, "plato");
    setup.engines = 1;
    setup.blocks = 1000;
    setup.answer.reuse = KvReuse::prefix;
    setup.faults.clear();
    const VirtualOutcome without = answer_virtually(setup);
    for (int i = 1; i < 40; ++i) setup.faults.push_back({.at_s = 4.0 * i, .kind = FaultKind::wipe});
    const VirtualOutcome wiped = answer_virtually(setup);
    EXPECT_EQ(wiped.parts, without.parts);
    EXPECT_GT(wiped.computed_tokens, without.computed_tokens);
}

TEST(PlatoCampaign, EasyNodesGoToTheSecondModelAndTakeLess) {
    VirtualSetup setup = draw_setup(9, "plato");
    setup.engines = 1;
    setup.blocks = 1000;
    setup.faults.clear();
    const VirtualOutcome one = answer_virtually(setup);
    setup.small_engines = 1;
    setup.small_factor = 0.25;
    EXPECT_EQ(answer_virtually(setup).parts, one.parts);  // nobody is easy
    for (QuestionTokens& question : setup.questions)
        for (std::size_t i = 0; i < question.plan.nodes.size(); ++i)
            question.plan.nodes[i].difficulty = i % 2 == 0 ? 1 : 5;
    EXPECT_EQ(answer_virtually(setup).parts, one.parts);
    setup.adaptive.easy_up_to = 2;
    const VirtualOutcome both = answer_virtually(setup);
    EXPECT_LT(both.seconds, one.seconds);
    for (std::size_t q = 0; q < both.parts.size(); ++q) {
        EXPECT_EQ(both.parts[q][0], one.parts[q][0]);  // the plan is the first model's
        EXPECT_NE(both.parts[q][1], one.parts[q][1]);
    }
}

TEST(PlacementTest, ModelsAreKeptApart) {
    Placement placement(3);
    placement.set_model(1, 1);
    const std::vector<int> prompt{1, 2};
    placement.on_started(0, prompt);
    EXPECT_EQ(placement.choose(prompt, true, 1), 1);
    EXPECT_EQ(placement.choose(prompt), 0);
    placement.on_lost(1);
    EXPECT_EQ(placement.choose(prompt, true, 1), -1);
    EXPECT_EQ(AdaptiveModel{2}.model_of(2), 1);
    EXPECT_EQ(AdaptiveModel{2}.model_of(3), 0);
    EXPECT_EQ(AdaptiveModel{5}.model_of(std::nullopt), 0);
}

TEST(PlacementTest, PrefixThenLoadThenNumber) {
    Placement placement(3);
    const std::vector<int> prompt{1, 2, 3, 4}, other{9};
    EXPECT_EQ(placement.choose(prompt), 0);
    placement.on_started(0, other);
    EXPECT_EQ(placement.choose(prompt), 1);
    placement.on_started(2, prompt);
    EXPECT_EQ(placement.choose(prompt), 2);
    EXPECT_EQ(placement.choose(prompt, false), 1);
    placement.on_ended(2, std::vector<int>{1, 2, 3, 4, 5, 6});
    EXPECT_EQ(placement.cached(2, std::vector<int>{1, 2, 3, 4, 5, 6}), 5);
    placement.on_wiped(2);
    EXPECT_EQ(placement.choose(prompt), 1);
    placement.on_lost(1);
    EXPECT_EQ(placement.choose(prompt), 2);
    placement.on_lost(2);
    placement.on_lost(0);
    EXPECT_EQ(placement.choose(prompt), -1);
    placement.on_back(0);
    EXPECT_EQ(placement.choose(prompt), 0);
    EXPECT_EQ(placement.running(0), 0);
}

}  // namespace
}  // namespace assay::plato
