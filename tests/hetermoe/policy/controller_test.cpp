// Who does what after who came or went, one rule at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "impls/hetermoe/policy/controller/controller.hpp"

namespace assay::hetermoe {
namespace {

using testing::ElementsAre;

/// A controller, and workers that do at once what they are told.
class Cluster {
  public:
    explicit Cluster(ControllerSettings settings) : settings_(settings), controller_(settings) {
        for (int i = 0; i < settings.new_workers() + settings.old_workers(); ++i)
            tell(Joined{i, true});
    }
    Cluster(ControllerSettings settings, const std::vector<Worker>& in_this_order)
        : settings_(settings), controller_(settings) {
        for (const Worker worker : in_this_order) tell(Joined{worker, true});
    }
    std::vector<Action> tell(const Event& event) {
        std::vector<Action> actions;
        controller_.on(event, 0, actions);
        for (const auto& action : actions) {
            if (const auto* form = std::get_if<Reconfigure>(&action)) form_ = *form;
            if (const auto* go = std::get_if<Go>(&action)) step_ = go->step;
            if (const auto* stop = std::get_if<Stop>(&action)) stop_ = *stop;
        }
        return actions;
    }
    void everyone_is_ready() {
        const auto form = form_;
        for (const Worker worker : form.members) tell(Ready{worker, form.epoch});
    }
    void train_a_step() {
        const auto form = form_;
        const Step step = step_;
        for (const Worker worker : form.layout.ranks) tell(StepDone{worker, form.epoch, step});
    }

    ControllerSettings settings_;
    Controller controller_;
    Reconfigure form_;
    Step step_ = -1;
    std::optional<Stop> stop_;
};

template <class T>
long count(const std::vector<Action>& actions) {
    return std::count_if(actions.begin(), actions.end(),
                         [](const Action& action) { return std::holds_alternative<T>(action); });
}

ControllerSettings two_groups() {
    return {.layers = 2, .experts = 8, .group = {1, 1}, .groups = 2, .chunks = 1, .steps = 6};
}

TEST(Layouts, EveryExpertHasOneOwnerInEveryGroupAndDenseIsOnNewOnes) {
    for (const Group group : {Group{1, 1}, Group{2, 2}, Group{1, 2}, Group{2, 1}, Group{4, 2}}) {
        const ControllerSettings settings{
            .layers = 2, .experts = 8, .group = group, .groups = 3, .chunks = 1};
        std::vector<Worker> fresh, old;
        for (int i = 0; i < settings.new_workers(); ++i) fresh.push_back(i);
        for (int i = 0; i < settings.old_workers(); ++i) old.push_back(100 + i);
        const auto layout = layout_for(settings, fresh, old).value();
        ASSERT_EQ(layout.groups, 3);
        std::map<BlockKey, std::vector<int>> holders;
        for (int rank = 0; rank < static_cast<int>(layout.ranks.size()); ++rank)
            for (const auto& block : blocks_of(layout, 8, rank)) holders[block].push_back(rank);
        ASSERT_EQ(holders.size(), 17u);
        for (const auto& [block, ranks] : holders) {
            EXPECT_EQ(ranks, holders_of(layout, 8, block));
            if (block == nn::dense_key) {
                EXPECT_EQ(static_cast<int>(ranks.size()), layout.attention_ranks());
                continue;
            }
            std::set<int> groups;
            for (const int rank : ranks) groups.insert(layout.group_of(rank));
            EXPECT_EQ(ranks.size(), 3u);
            EXPECT_EQ(groups.size(), 3u) << "one of each group";
        }
    }
}

TEST(Layouts, MicroBatchesAreEverySequenceOnce) {
    for (const int sequences : {8, 9, 31}) {
        const Layout layout{{2, 2}, 2, 2, {0}, {0, 1, 2, 3, 4, 5, 6, 7}};
        std::set<std::int64_t> seen;
        for (int rank = 0; rank < 4; ++rank)
            for (const auto& batch : micro_batches_of(layout, sequences, rank)) {
                EXPECT_GE(batch.sequences, 1);
                for (std::int64_t i = 0; i < batch.sequences; ++i)
                    EXPECT_TRUE(seen.insert(batch.first + i).second);
            }
        EXPECT_EQ(static_cast<int>(seen.size()), sequences);
        EXPECT_EQ(*seen.rbegin(), sequences - 1);
    }
}

TEST(HetermoeController, CommitsOnceEveryRankIsDone) {
    Cluster cluster(two_groups());
    EXPECT_EQ(cluster.form_.restore_step, 0);
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 1, 2, 3));
    cluster.everyone_is_ready();
    EXPECT_EQ(cluster.step_, 0);
    EXPECT_EQ(count<Commit>(cluster.tell(StepDone{0, 1, 0})), 0);
    EXPECT_EQ(count<Commit>(cluster.tell(StepDone{0, 1, 0})), 0);
    cluster.tell(StepDone{1, 1, 0});
    cluster.tell(StepDone{2, 1, 0});
    EXPECT_EQ(count<Commit>(cluster.tell(StepDone{3, 1, 0})), 1);
    EXPECT_EQ(cluster.step_, 1);
    for (int i = 0; i < 5; ++i) cluster.train_a_step();
    ASSERT_TRUE(cluster.stop_);
    EXPECT_TRUE(cluster.stop_->ok);
    EXPECT_EQ(cluster.controller_.lineage().size(), 6u);
}

TEST(HetermoeController, TheFirstWorkersAreNewInWhateverOrderTheyCome) {
    Cluster cluster(two_groups(), {3, 1, 0, 2});
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 1, 2, 3));
}

TEST(HetermoeController, ALostExpertComesFromAnotherGroup) {
    Cluster cluster(two_groups());
    cluster.everyone_is_ready();
    cluster.train_a_step();
    const auto actions = cluster.tell(Died{2});
    EXPECT_EQ(count<Abort>(actions), 1);
    EXPECT_EQ(cluster.form_.layout.groups, 1);
    EXPECT_FALSE(cluster.form_.restore_step);
    EXPECT_EQ(cluster.form_.resume_step, 1);
    // New worker 0 has its moved experts and the dense block, old worker 3 the same as 2 had.
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 3));
    EXPECT_TRUE(cluster.form_.moves.empty());
    cluster.everyone_is_ready();
    for (int i = 0; i < 5; ++i) cluster.train_a_step();
    EXPECT_TRUE(cluster.stop_->ok);
}

TEST(HetermoeController, AnExpertThatNobodyHoldsComesFromTheNewestWholeCheckpoint) {
    auto settings = two_groups();
    settings.groups = 1;
    settings.group = {2, 2};
    settings.checkpoint_every = 1;
    Cluster cluster(settings);
    cluster.everyone_is_ready();
    for (int i = 0; i < 3; ++i) cluster.train_a_step();
    for (const Worker worker : {0, 1, 2, 3}) cluster.tell(CheckpointWritten{worker, 2});
    cluster.tell(CheckpointWritten{0, 3});  // and no more: not whole
    cluster.tell(Died{3});
    EXPECT_EQ(cluster.form_.restore_step, 2);
    EXPECT_EQ(cluster.form_.resume_step, 2);
    EXPECT_EQ(cluster.controller_.lineage().size(), 2u);
    EXPECT_EQ(cluster.controller_.counts().rolled_back, 1);
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 1, 2));
    // It is torn: then from the beginning.
    const auto epoch = cluster.form_.epoch;
    cluster.tell(RestoreFailed{0, epoch, 2, "torn"});
    EXPECT_EQ(cluster.form_.restore_step, 0);
    EXPECT_EQ(cluster.form_.epoch, epoch + 1);
}

// A leave that is heard before everyone is there: who is there begins without the leaver.
TEST(HetermoeController, WhoLeavesBeforeTheStartIsNotWaitedFor) {
    Cluster cluster(two_groups(), {0, 1, 2});
    cluster.tell(LeaveRequested{1});
    EXPECT_EQ(cluster.form_.epoch, 0);
    cluster.tell(Joined{3, false});
    EXPECT_EQ(cluster.form_.epoch, 1);
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 3));
}

TEST(HetermoeController, AJoinTakesEffectAfterTheStepAndIsOfTheKindThatLacksMore) {
    Cluster cluster(two_groups());
    cluster.everyone_is_ready();
    cluster.tell(Died{2});
    cluster.everyone_is_ready();
    EXPECT_EQ(count<Reconfigure>(cluster.tell(Joined{4, false})), 0);
    cluster.train_a_step();
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 1, 3, 4));
    EXPECT_EQ(cluster.form_.moves.size(), 2u * 7 + 3);  // to 4, and to 1 what it had not
    EXPECT_EQ(cluster.form_.resume_step, 1);
}

TEST(HetermoeController, ALeaverGivesAwayWhatItHasAndIsDismissedThen) {
    auto settings = two_groups();
    settings.groups = 1;
    settings.group = {2, 2};
    Cluster cluster(settings);
    cluster.everyone_is_ready();
    cluster.tell(LeaveRequested{3});
    cluster.train_a_step();
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 1, 2));
    EXPECT_THAT(cluster.form_.members, ElementsAre(0, 1, 2, 3));
    EXPECT_FALSE(cluster.form_.restore_step);
    const auto form = cluster.form_;
    for (const Worker worker : {0, 1, 2}) cluster.tell(Ready{worker, form.epoch});
    EXPECT_EQ(count<Dismiss>(cluster.tell(Ready{3, form.epoch})), 1);
    EXPECT_EQ(cluster.controller_.counts().leaves, 1);
}

TEST(HetermoeController, WhoIsOutOfReachIsEvictedAndItsDeathAwaited) {
    Cluster cluster(two_groups());
    cluster.everyone_is_ready();
    const auto actions = cluster.tell(GroupBroken{1, 1, false, "stuck"});
    EXPECT_EQ(count<Evict>(actions), 1);
    EXPECT_EQ(count<Reconfigure>(actions), 0);
    EXPECT_EQ(count<Reconfigure>(cluster.tell(Died{1})), 1);
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 2));
}

TEST(HetermoeController, AStepThatFailsAgainAndAgainEndsTheTraining) {
    Cluster cluster(two_groups());
    for (int i = 0; i < 4; ++i) {
        ASSERT_FALSE(cluster.stop_);
        cluster.everyone_is_ready();
        cluster.tell(StepFailed{1, cluster.form_.epoch, 0, "loss is not a finite number"});
    }
    ASSERT_TRUE(cluster.stop_);
    EXPECT_FALSE(cluster.stop_->ok);
}

TEST(HetermoeController, WithoutOneKindItWaits) {
    auto settings = two_groups();
    settings.groups = 1;
    Cluster cluster(settings);
    cluster.everyone_is_ready();
    cluster.tell(Died{1});
    EXPECT_TRUE(cluster.controller_.short_of_workers());
    cluster.tell(Joined{2, false});
    EXPECT_FALSE(cluster.controller_.short_of_workers());
    EXPECT_EQ(cluster.form_.restore_step, 0);
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 2));
}

// The best of those that the GPUs at hand allow; three old ones cannot share eight experts.
TEST(HetermoeController, GroupsThatCannotBeHadAreReplacedByTheBestThatCan) {
    const ControllerSettings settings{.layers = 2, .experts = 8, .group = {1, 4}};
    EXPECT_EQ(layout_for(settings, {0}, {1, 2, 3})->group, (Group{1, 2}));
    EXPECT_EQ(layout_for(settings, {0}, {1})->group, (Group{1, 1}));
    EXPECT_EQ(layout_for(settings, {0}, {1, 2, 3, 4})->group, (Group{1, 4}));
    EXPECT_EQ(layout_for(settings, {}, {1, 2, 3, 4}), std::nullopt);
    EXPECT_EQ(layout_for(settings, {0}, {}), std::nullopt);
}

// Five new workers and three old ones cannot have eight experts in equal shares: 5:2, or three
// times 1:1, which uses all old ones and is better where experts take long.
TEST(HetermoeController, ASlowKindIsSoManyTimesAsSlowAsProfiled) {
    Cluster cluster({.layers = 2,
                     .experts = 8,
                     .group = {5, 4},
                     .micro_batches = 8,
                     .times = {.attention = 10000, .old_expert = 3900, .new_expert = 3900}});
    cluster.everyone_is_ready();
    cluster.tell(Died{8});
    const auto group_after = [&](const Slow& slow) {
        cluster.tell(slow);
        cluster.everyone_is_ready();
        cluster.train_a_step();
        cluster.everyone_is_ready();
        return cluster.form_.layout.group;
    };
    EXPECT_EQ(group_after({false, 1}), (Group{5, 2}));
    EXPECT_EQ(group_after({false, 2}), (Group{1, 1}));
    EXPECT_EQ(group_after({false, 1}), (Group{5, 2})) << "not slow any more";
    EXPECT_EQ(group_after({false, 1.5}), (Group{5, 2}));
    EXPECT_EQ(group_after({false, 1.5}), (Group{5, 2})) << "the same said twice";
    EXPECT_EQ(group_after({true, 2}), (Group{5, 2})) << "attention takes longer still";
}

// The paper's Fig. 6: three layers of six experts, attention 0.75 and experts on new GPUs 0.8 of
// an expert task. As long as experts take no longer than attention, nothing moves.
TEST(HetermoeController, ASlowKindMovesAsManyExpertsAsAlgorithm1Says) {
    Cluster cluster({.layers = 3,
                     .experts = 6,
                     .group = {1, 1},
                     .micro_batches = 3,
                     .squeeze = true,
                     .times = {.attention = 750, .old_expert = 750, .new_expert = 800}});
    EXPECT_THAT(cluster.form_.layout.offload, ElementsAre(0, 0, 0));
    cluster.everyone_is_ready();
    cluster.tell(Slow{false, 4.0 / 3});
    cluster.train_a_step();
    EXPECT_THAT(cluster.form_.layout.offload, ElementsAre(0, 1, 1));
    EXPECT_EQ(cluster.form_.moves.size(), 2u);
    EXPECT_FALSE(cluster.form_.restore_step);
    EXPECT_EQ(cluster.form_.resume_step, 1);
    EXPECT_THAT(cluster.form_.why, testing::HasSubstr("old GPUs work at another pace"));
    cluster.everyone_is_ready();
    cluster.tell(Profiled{{.attention = 750, .old_expert = 1000, .new_expert = 1000}});
    cluster.tell(Slow{false, 1});
    cluster.train_a_step();
    cluster.everyone_is_ready();
    EXPECT_THAT(cluster.form_.layout.offload, ElementsAre(0, 1, 1)) << "0.75 · (1 + 1)/6 of 0.25";
    cluster.tell(Slow{true, 2});
    cluster.train_a_step();
    EXPECT_THAT(cluster.form_.layout.offload, ElementsAre(0, 0, 0)) << "attention is longer now";
}

// Its experts are elsewhere, or come from a checkpoint; half of the workers take each role.
TEST(HetermoeController, WhereOneKindIsGoneTheOtherDoesBoth) {
    ControllerSettings settings{.layers = 2, .experts = 8, .group = {4, 4}};
    EXPECT_EQ(layout_for(settings, {0}, {}), std::nullopt);
    EXPECT_EQ(layout_for(settings, {}, {4, 5, 6, 7}), std::nullopt) << "old ones have no attention";
    const auto of_new = layout_for(settings, {0, 1, 2, 3}, {}).value();
    EXPECT_EQ(of_new.group.attention, of_new.group.expert);
    EXPECT_THAT(of_new.ranks, ElementsAre(0, 1, 2, 3));
    settings.times.old_attention = 3 * settings.times.attention;
    const auto of_old = layout_for(settings, {}, {4, 5, 6}).value();
    EXPECT_EQ(of_old.group.attention + of_old.group.expert, 3);

    Cluster cluster({.layers = 2, .experts = 8, .group = {2, 1}, .checkpoint_every = 1});
    cluster.everyone_is_ready();
    cluster.train_a_step();
    for (const Worker worker : {0, 2}) cluster.tell(CheckpointWritten{worker, 1});
    cluster.tell(Died{2});
    EXPECT_EQ(cluster.form_.layout.group, (Group{1, 1}));
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 1));
    EXPECT_EQ(cluster.form_.restore_step, 1);
    cluster.everyone_is_ready();
    cluster.tell(Joined{3, false});  // an old one again
    cluster.train_a_step();
    EXPECT_THAT(cluster.form_.layout.ranks, ElementsAre(0, 1, 3));
    EXPECT_EQ(cluster.form_.layout.group, (Group{2, 1}));
    EXPECT_FALSE(cluster.form_.restore_step);
}

TEST(HetermoeController, ASlowKindIsNoReasonForAPlanThatIsTheSame) {
    Cluster cluster(two_groups());
    cluster.everyone_is_ready();
    cluster.tell(Profiled{{.attention = 5000, .old_expert = 2000, .new_expert = 1000}});
    cluster.tell(Slow{false, 3});
    const auto epoch = cluster.form_.epoch;
    cluster.train_a_step();
    EXPECT_EQ(cluster.form_.epoch, epoch);
    EXPECT_EQ(cluster.step_, 1);
}

}  // namespace
}  // namespace assay::hetermoe
