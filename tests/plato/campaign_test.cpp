#include "impls/plato/campaign/virtual_schedule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "impls/decode/campaign/served_models.hpp"
#include "impls/plato/campaign/drawn.hpp"
#include "impls/plato/campaign/engine_faults.hpp"
#include "impls/plato/campaign/live_schedule.hpp"
#include "impls/plato/campaign/served_answers.hpp"
#include "impls/plato/policy/placement.hpp"
#include "suite/base/error.hpp"

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
                                     "fault.wipe", "refused", "given_up", "resumed", "replayed"})
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
    for (int i = 1; i < 40; ++i)
        setup.faults.push_back(parse_fault(fmt::format("wipe:rank=0@t={}", 4 * i)));
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

// ---- engines in processes of their own

TEST(PlatoLiveCampaign, EveryRuleIsKept) {
    std::map<std::string, long> counts;
    // The first fault of each: a kill, a hang, a corruption, a wipe.
    for (const std::uint64_t seed : {30, 11, 33, 9}) {
        const drive::SeedOutcome outcome = run_live_schedule(seed);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << " (" << outcome.says
                                << ")";
        for (const auto& [name, count] : outcome.counts) counts[name] += count;
    }
    EXPECT_GT(counts["parts"], 0);
    for (const char* const struck :
         {"fault.kill", "fault.hang", "fault.corrupt", "fault.wipe", "resumed", "given_up"})
        EXPECT_GT(counts[struck], 0) << struck;
}

/// What strikes when is the machine's business, so one of a few will do.
bool is_found(Misdeed misdeed, std::initializer_list<std::uint64_t> seeds) {
    return std::any_of(seeds.begin(), seeds.end(), [&](std::uint64_t seed) {
        return !run_live_schedule(seed, "plato", misdeed).ok;
    });
}

TEST(PlatoLiveCampaign, WhoDoesWrongIsFound) {
    EXPECT_TRUE(is_found(Misdeed::starts_early, {1, 2, 3, 4, 5}));
    EXPECT_TRUE(is_found(Misdeed::forgets_a_token, {5, 10, 15, 20, 25, 8, 13}));  // kills, ...
}

ServedSetup small_setup(std::uint64_t seed, Mode mode, KvReuse reuse) {
    Dice dice(seed);
    const decode::ServedModel model = decode::served_decoder();
    ServedSetup setup;
    std::vector<PlanRecord> plans;
    for (int i = 0; i < 2; ++i)
        plans.push_back(draw_plan(
            dice, i,
            {.question = 10, .instruction = 16, .nodes = 5, .line = 5, .lead = 3, .out = 16}));
    setup.questions = drawn_tokens(plans, model.vocabulary, seed);
    setup.answer = {.mode = mode, .reuse = reuse};
    if (seed % 2 == 0) setup.answer.positions = LinkPositions::reserved;
    setup.engine.options.max_batch = 64;
    setup.engine.options.chunk = chunk_for(setup.questions, 2);
    setup.engine.blocks = 2 * blocks_for(setup.questions, 2);
    setup.engine.threads = 1;
    setup.engine.weights = "1";
    setup.model = model.model;
    return setup;
}

// As in this process: bits, and tokens that are computed.
TEST(ServedAnswersTest, OneEngineInAProcessIsTheOneInThisProcess) {
    std::uint64_t seed = 0;
    for (const Mode mode : {Mode::ar, Mode::sot, Mode::waves, Mode::plato_nopipe, Mode::plato})
        for (const KvReuse reuse :
             {KvReuse::none, KvReuse::shared, KvReuse::prefix, KvReuse::linked}) {
            if (mode != Mode::plato && reuse != KvReuse::linked) continue;  // a process each
            const ServedSetup setup = small_setup(++seed, mode, reuse);
            const ServedOutcome served = answer_on_processes(setup);
            const LiveRun here = run_live(setup.questions, setup.model.back_end(setup.engine, "1"),
                                          {.answer = setup.answer});
            std::vector<std::vector<AnsweredPart>> parts;
            for (std::size_t q = 0; q < setup.questions.size(); ++q) {
                parts.push_back(served.answers[q].parts);
                EXPECT_EQ(served.answers[q].prompt_tokens, here.answers[q].prompt_tokens);
                EXPECT_EQ(served.answers[q].recomputed_tokens, here.answers[q].recomputed_tokens);
                EXPECT_GT(served.answers[q].seconds, 0);
            }
            EXPECT_NO_THROW(check_text(here, mode, parts));
            EXPECT_EQ(served.held_blocks, 0);
            EXPECT_FALSE(served.counts.contains("replayed"));
        }
}

// With the second model's weights the nodes are what that model says; the plan is the first's.
TEST(ServedAnswersTest, EasyNodesGoToEnginesWithTheSecondModel) {
    ServedSetup setup = small_setup(3, Mode::plato, KvReuse::prefix);
    setup.small_engines = 1;
    setup.small_weights = "2";
    setup.adaptive.easy_up_to = 2;
    for (QuestionTokens& question : setup.questions)
        for (NodeRecord& node : question.plan.nodes) node.difficulty = 1;
    const auto texts = [&] {
        std::vector<std::vector<AnsweredPart>> parts;
        for (const auto& answer : answer_on_processes(setup).answers) parts.push_back(answer.parts);
        return parts;
    };
    const auto alone = [&](const char* weights) {
        return run_live(setup.questions, setup.model.back_end(setup.engine, weights),
                        {.answer = setup.answer});
    };
    const auto easy = texts();
    const LiveRun first = alone("1");
    LiveRun second = alone("2");
    EXPECT_THROW(check_text(second, Mode::plato, easy), BrokenRule);  // the plan is the first's
    for (std::size_t q = 0; q < second.answers.size(); ++q)
        second.answers[q].plan_log_probabilities = first.answers[q].plan_log_probabilities;
    EXPECT_NO_THROW(check_text(second, Mode::plato, easy));
    EXPECT_THROW(check_text(first, Mode::plato, easy), BrokenRule);
    for (QuestionTokens& question : setup.questions)
        for (NodeRecord& node : question.plan.nodes) node.difficulty = 3;
    EXPECT_NO_THROW(check_text(alone("1"), Mode::plato, texts()));
}

// Nodes are where others are that they link to; what an engine lacks it computes once more, and has
// the same last token for it.
TEST(ServedAnswersTest, LinkedNodesAreTheSameOnSeveralEngines) {
    long replayed = 0;
    // Who lacks what when an engine forgets is the machine's business, so one of a few will do.
    for (std::uint64_t seed = 1; seed <= 6 || (replayed == 0 && seed <= 40); ++seed) {
        ServedSetup setup = small_setup(seed, Mode::plato, KvReuse::linked);
        setup.engines = 3;
        setup.in_turn = false;
        setup.engine.pace = decode::StepCost{.fixed_s = 0.004};
        for (int i = 0; i < 12; ++i)
            setup.faults.push_back(parse_fault(fmt::format("wipe:rank={}@t={}", i % 3, 0.03 * i)));
        const ServedOutcome served = answer_on_processes(setup);
        const LiveRun here = run_live(setup.questions, setup.model.back_end(setup.engine, "1"),
                                      {.answer = setup.answer});
        std::vector<std::vector<AnsweredPart>> parts;
        for (const ServedOutcome::Answer& answer : served.answers) parts.push_back(answer.parts);
        EXPECT_NO_THROW(check_text(here, Mode::plato, parts));
        const auto found = served.counts.find("replayed");
        if (found != served.counts.end()) replayed += found->second;
    }
    EXPECT_GT(replayed, 0);
}

TEST(EngineFaultsTest, EnginesKnowFiveKindsAtTimes) {
    const auto complaint = [](const char* text) -> std::string {
        try {
            check_faults(parse_fault_plan(text).faults);
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(complaint("kill:rank=0@t=1;hang:rank=1@t=2;slow:rank=0,factor=2@t=3;"
                        "corrupt:rank=1,target=message@t=4;wipe:rank=0@t=5"),
              "");
    for (const char* const unknown : {"nan:rank=0@t=1", "join:count=1@t=1", "stop:rank=0@t=1",
                                      "corrupt:rank=0,target=tensor@t=1"})
        EXPECT_NE(complaint(unknown).find("engines know kill, hang"), std::string::npos) << unknown;
    EXPECT_EQ(complaint("wipe:rank=0@step=5"),
              "fault 'wipe:rank=0@step=5': engines count no common steps; give a time, @t=SECONDS");
}

/// Seats 0, 1, … of the first model, each with so many requests.
std::vector<decode::Place> seats_with(std::initializer_list<int> given) {
    std::vector<decode::Place> places;
    for (const int each : given)
        places.push_back({.seat = static_cast<decode::Seat>(places.size()), .given = each});
    return places;
}

TEST(PlacementTest, ModelsAreKeptApart) {
    Placement placement(10);
    std::vector<decode::Place> places = seats_with({0, 0, 0});
    places[1].model = 1;
    const std::vector<int> prompt{1, 2};
    placement.add(0, prompt);
    EXPECT_EQ(placement.choose({.tokens = prompt, .model = 1}, places), 1);
    EXPECT_EQ(placement.choose({.tokens = prompt}, places), 0);
    places[0].takes = places[1].takes = false;
    EXPECT_EQ(placement.choose({.tokens = prompt, .model = 1}, places), std::nullopt);
    EXPECT_EQ(placement.choose({.tokens = prompt}, places), 2);
    EXPECT_EQ(AdaptiveModel{2}.model_of(2), 1);
    EXPECT_EQ(AdaptiveModel{2}.model_of(3), 0);
    EXPECT_EQ(AdaptiveModel{5}.model_of(std::nullopt), 0);
}

TEST(PlacementTest, PrefixThenLoadThenNumber) {
    Placement placement(10);
    const std::vector<int> prompt{1, 2, 3, 4};
    EXPECT_EQ(placement.choose({.tokens = prompt}, seats_with({0, 0, 0})), 0);
    EXPECT_EQ(placement.choose({.tokens = prompt}, seats_with({1, 0, 0})), 1);
    placement.add(2, prompt);
    EXPECT_EQ(placement.choose({.tokens = prompt}, seats_with({1, 0, 5})), 2);
    EXPECT_EQ(placement.choose({.tokens = prompt, .most_reused = 0}, seats_with({1, 0, 5})), 1);
    placement.add(2, std::vector<int>{1, 2, 3, 4, 5});
    EXPECT_EQ(placement.cached(2, std::vector<int>{1, 2, 3, 4, 5, 6}), 5);
    placement.clear(2);
    EXPECT_EQ(placement.choose({.tokens = prompt}, seats_with({1, 0, 0})), 1);
    EXPECT_EQ(placement.choose({.tokens = prompt}, {}), std::nullopt);
}

TEST(PlacementTest, WhatAnEngineHadNoRoomForIsForgotten) {
    Placement placement(3);  // blocks
    const auto text = [](int id) { return std::vector<int>(20, id); };
    for (const int id : {1, 2, 3}) placement.add(0, text(id));
    EXPECT_EQ(placement.cached(0, text(3)), 20);
    EXPECT_EQ(placement.cached(0, text(1)), 0);
}

TEST(PlacementTest, WhatMayNotBeTakenDoesNotCountAndWhatIsLinkedDoes) {
    Placement placement(10);
    const std::vector<int> prompt{1, 2, 3, 4};
    const std::vector<decode::Place> places = seats_with({1, 2});
    placement.add(0, std::vector<int>{1, 2});
    placement.add(1, std::vector<int>{1, 2, 3});
    EXPECT_EQ(placement.choose({.tokens = prompt}, places), 1);
    // Both have two tokens of it; fewer are there.
    EXPECT_EQ(placement.choose({.tokens = prompt, .most_reused = 2}, places), 0);
    EXPECT_EQ(
        placement.choose({.tokens = prompt, .linked = std::vector<std::int64_t>{3, 0}}, places), 0);
    EXPECT_EQ(
        placement.choose({.tokens = prompt, .linked = std::vector<std::int64_t>{3, 3}}, places), 1);
}

}  // namespace
}  // namespace assay::plato
