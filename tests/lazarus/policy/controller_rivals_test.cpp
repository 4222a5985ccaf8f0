// DeepSpeed-MoE as settings of the same controller: fixed groups, with checkpoint restart (DS) and
// with peers' states (DS(FT)); numbers as for GPT-L (16 experts, groups of four, ten nodes).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "impls/lazarus/policy/rivals/expert_parallel.hpp"
#include "tests/lazarus/policy/controller_script.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ControllerConfig gpt_l(Recovery recovery) {
    ControllerConfig job;
    job.layers = 12;
    job.experts = 16;
    job.slots = 6;
    job.initial_workers = 10;
    job.steps = 1000;
    job.rebalance_every = 3;  // means nothing where groups are fixed
    job.layout = Layout::groups;
    job.group = 4;
    job.recovery = recovery;
    job.checkpoint_every = 50;
    return job;
}

void write_all(Script& script, const WriteCheckpoint& checkpoint) {
    std::set<Worker> owners{checkpoint.dense_owner};
    for (const auto& layer : checkpoint.owners) owners.insert(layer.begin(), layer.end());
    for (Worker owner : owners) script.feed(CheckpointWritten{owner, checkpoint.step});
}

/// 51 steps, with a complete checkpoint of 50.
void train_past_a_checkpoint(Script& script) {
    script.steps(50);
    const WriteCheckpoint checkpoint = *script.last<WriteCheckpoint>();
    write_all(script, checkpoint);
    script.step();
}

TEST(ExpertParallel, EachGroupHoldsEachExpertOnceAndKeepsWhatItHolds) {
    const ModelPlacement nothing(2, Placement(4));
    EXPECT_THAT(
        place_in_groups(nothing, 4, 2)[1],
        ElementsAre(std::vector{0, 1}, std::vector{2, 3}, std::vector{0, 1}, std::vector{2, 3}));
    const Placement held{{2, 3}, {}, {0, 1}, {2, 3}};
    EXPECT_THAT(
        place_in_groups({held, held}, 4, 2)[0],
        ElementsAre(std::vector{2, 3}, std::vector{0, 1}, std::vector{0, 1}, std::vector{2, 3}));
    EXPECT_THROW(place_in_groups(ModelPlacement(1, Placement(3)), 4, 2), std::invalid_argument);
    EXPECT_EQ(nodes_in_whole_groups(11, 4), 8);
}

TEST(ExpertParallel, TheSurplusIsWhatHoldsNothingThenWhatOthersHoldToo) {
    const ModelPlacement held{{{0}, {1}, {0}, {}, {0}}};
    EXPECT_THAT(surplus_nodes(held, 4), ElementsAre(3));
    EXPECT_THAT(surplus_nodes(held, 3), ElementsAre(3, 4));
    EXPECT_THAT(surplus_nodes(held, 2), ElementsAre(2, 3, 4));
}

TEST(LazarusRivals, TenNodesTrainAsTwoGroupsOfFour) {
    for (Recovery recovery : {Recovery::peers, Recovery::restart}) {
        Script script(gpt_l(recovery));
        script.start();
        EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
        EXPECT_EQ(script.controller.spares(), 2);
        EXPECT_THAT(script.plan().holders[11][6], ElementsAre(8, 9, 10, 11));
        script.steps(3);
        EXPECT_EQ(script.kinds(), "Commit Go");  // no rebalance
        script.die(9);
        EXPECT_THAT(script.actions, IsEmpty());  // a spare
    }
}

TEST(LazarusRivals, DsRestartsOnEightOfNine) {
    Script script(gpt_l(Recovery::restart));
    script.start();
    train_past_a_checkpoint(script);
    script.die(2);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 3, 4, 5, 6, 7, 8));
    EXPECT_EQ(script.plan().restore_step, 50);
    EXPECT_EQ(script.plan().why, "death of 2, join of 8");
    EXPECT_EQ(script.controller.counts().rolled_back, 1);
    EXPECT_EQ(script.controller.counts().fallbacks, 1);
    EXPECT_EQ(script.controller.counts().every_loss, 1);
    EXPECT_EQ(script.controller.restart_reason(), RestartReason::every_loss);
}

TEST(LazarusRivals, DsFtGoesOnWithFourAndTakesNobodyBack) {
    Script script(gpt_l(Recovery::peers));
    script.start();
    train_past_a_checkpoint(script);
    script.die(2);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_THAT(script.plan().training, SizeIs(4));
    EXPECT_EQ(script.plan().members, script.plan().training);
    EXPECT_EQ(script.plan().restore_step, std::nullopt);
    EXPECT_EQ(script.plan().resume_step, 51);
    EXPECT_THAT(script.plan().transfers, IsEmpty());  // one of each share is kept
    EXPECT_EQ(script.controller.spares(), 5);
    script.all_ready();
    script.join(10);
    script.join(11);
    script.join(12);
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Go");  // 4 + 3 newcomers: no second group
    script.join(13);
    script.step();
    ASSERT_EQ(script.kinds(), "Commit Reconfigure");
    EXPECT_EQ(script.plan().why, "join of 10, join of 11, join of 12, join of 13");
    EXPECT_THAT(script.plan().training, SizeIs(8));
    EXPECT_THAT(script.plan().need_dense, ElementsAre(10, 11, 12, 13));
}

TEST(LazarusRivals, WhereTheSurplusWaitsItIsBackAfterAStep) {
    auto job = gpt_l(Recovery::peers);
    job.surplus_waits = true;
    Script script(job);
    script.start();
    script.step();
    script.die(2);
    EXPECT_THAT(script.plan().training, SizeIs(4));
    script.all_ready();
    script.step();
    ASSERT_EQ(script.kinds(), "Commit Reconfigure");
    EXPECT_THAT(script.plan().training, SizeIs(8));
    EXPECT_EQ(script.plan().restore_step, std::nullopt);
    EXPECT_EQ(script.controller.spares(), 1);
}

TEST(LazarusRivals, DsFtRestartsWithEveryoneOnceAShareIsLost) {
    Script script(gpt_l(Recovery::peers));
    script.start();
    train_past_a_checkpoint(script);
    script.die(2);
    script.all_ready();
    script.die(script.plan().training.front());
    EXPECT_EQ(script.plan().restore_step, 50);
    EXPECT_THAT(script.plan().why, HasSubstr("lost expert"));
    EXPECT_EQ(script.controller.restart_reason(), RestartReason::no_replica_left);
    EXPECT_THAT(script.plan().training, SizeIs(8));  // of the eight still alive
}

TEST(LazarusRivals, DsJoinsByAPlannedRestartThatLosesNothing) {
    Script script(gpt_l(Recovery::restart));
    script.start();
    script.step();
    script.join(10);
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Go");  // eleven: still two groups
    script.join(11);
    script.step();
    ASSERT_EQ(script.kinds(), "Commit WriteCheckpoint StartTimer");
    const WriteCheckpoint checkpoint = *script.last<WriteCheckpoint>();
    write_all(script, checkpoint);
    ASSERT_EQ(script.kinds(), "Reconfigure");
    EXPECT_THAT(script.plan().members, SizeIs(12));
    EXPECT_EQ(script.plan().restore_step, 3);
    EXPECT_EQ(script.plan().resume_step, 3);
    EXPECT_EQ(script.controller.counts().rolled_back, 0);
    EXPECT_EQ(script.controller.counts().planned_restarts, 1);
    EXPECT_EQ(script.controller.counts().fallbacks, 0);
    EXPECT_EQ(script.controller.restart_reason(), RestartReason::planned);
}

TEST(LazarusRivals, DsLeavesByAPlannedRestart) {
    Script script(gpt_l(Recovery::restart));
    script.start();
    script.leave(9);
    EXPECT_EQ(script.kinds(), "Dismiss");  // a spare
    script.leave(0);
    script.step();
    const WriteCheckpoint checkpoint = *script.last<WriteCheckpoint>();
    write_all(script, checkpoint);
    EXPECT_THAT(script.plan().training, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
    EXPECT_EQ(script.plan().resume_step, 1);
    script.all_ready();
    EXPECT_EQ(script.kinds(), "Dismiss Go");
}

TEST(LazarusRivals, APlannedRestartWhoseCheckpointIsNotWrittenIsGivenUp) {
    Script script(gpt_l(Recovery::restart));
    script.start();
    script.join(10);
    script.join(11);
    script.step();
    script.feed(Timer{script.last<StartTimer>()->id});
    EXPECT_EQ(script.kinds(), "Go");
    script.leave(0);
    script.step();
    script.feed(Timer{script.last<StartTimer>()->id});
    ASSERT_EQ(script.kinds(), "Reconfigure");  // the leaver cannot wait
    EXPECT_EQ(script.plan().restore_step, 0);
    EXPECT_EQ(script.controller.counts().fallbacks, 1);
}

TEST(LazarusRivals, TooFewForAGroupWaitsOrStops) {
    auto job = gpt_l(Recovery::restart);
    job.initial_workers = 4;
    {
        Script script(job);
        script.start();
        script.die(0);
        EXPECT_EQ(script.kinds(), "Abort Stop");
        EXPECT_THAT(script.last<Stop>()->why, HasSubstr("3 workers cannot form a group of 4"));
    }
    job.wait_for_nodes = true;
    job.join_wait_s = 120;
    Script script(job);
    script.start();
    script.die(0);
    EXPECT_EQ(script.kinds(), "Abort");
    for (Worker worker : {1, 2, 3}) script.die(worker);
    for (Worker worker : {4, 5, 6}) {
        script.join(worker);
        EXPECT_THAT(script.actions, IsEmpty());
    }
    script.join(7);
    ASSERT_EQ(script.kinds(), "Reconfigure");
    EXPECT_THAT(script.plan().members, ElementsAre(4, 5, 6, 7));
    EXPECT_EQ(script.controller.counts().waits, 1);
}

TEST(LazarusRivals, RefusesGroupsThatDoNotFit) {
    auto job = gpt_l(Recovery::peers);
    job.group = 3;
    EXPECT_THROW(Controller{job}, std::invalid_argument);
    job.group = 2;  // eight experts for six slots
    EXPECT_THROW(Controller{job}, std::invalid_argument);
    job.group = 0;
    EXPECT_THROW(Controller{job}, std::invalid_argument);
}

}  // namespace
}  // namespace assay::lazarus
