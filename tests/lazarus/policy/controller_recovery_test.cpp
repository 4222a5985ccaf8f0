// Deaths during reconfiguration, lost experts, checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/lazarus/policy/controller_script.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ControllerConfig checkpointed_job() {
    auto job = small_job();
    job.checkpoint_every = 2;
    return job;
}

std::set<Worker> owners_of(const WriteCheckpoint& checkpoint) {
    std::set<Worker> owners{checkpoint.dense_owner};
    for (const auto& layer : checkpoint.owners) owners.insert(layer.begin(), layer.end());
    return owners;
}

/// All owners of the checkpoint just ordered report it.
void write_all(Script& script) {
    const WriteCheckpoint checkpoint = *script.last<WriteCheckpoint>();
    for (Worker owner : owners_of(checkpoint))
        script.feed(CheckpointWritten{owner, checkpoint.step});
}

TEST(LazarusControllerReconfigure, TooFewSurvivorsAreAReasonOfTheirOwn) {
    auto job = small_job();
    job.wait_for_nodes = true;
    Script script(job);
    script.start();
    script.step();
    for (Worker worker : {1, 2, 3}) script.die(worker);
    ASSERT_TRUE(script.controller.short_of_workers());
    script.join(4);
    ASSERT_EQ(script.kinds(), "Reconfigure");
    EXPECT_EQ(script.controller.restart_reason(), RestartReason::too_few_survivors);
    const Controller::Counts& counts = script.controller.counts();
    EXPECT_EQ(counts.too_few_survivors, 1);
    EXPECT_EQ(counts.no_replica_left + counts.too_few_survivors + counts.every_loss,
              counts.fallbacks);
}

TEST(LazarusControllerReconfigure, GoWaitsForEveryMemberOfThisEpoch) {
    Script script(small_job());
    script.start();
    script.die(3);
    script.feed(Ready{0, 2});
    script.feed(Ready{0, 2});
    script.feed(Ready{1, 1});   // stale
    script.feed(Ready{3, 2});   // dead
    script.feed(Ready{42, 2});  // unknown
    script.feed(Ready{1, 2});
    EXPECT_THAT(script.actions, IsEmpty());
    script.feed(Ready{2, 2});
    EXPECT_EQ(script.kinds(), "Go");
}

TEST(LazarusControllerReconfigure, ADeathStartsOverFromTheOldHoldings) {
    auto job = small_job();
    job.initial_workers = 5;
    Script script(job);
    script.start();
    const Reconfigure first = script.plan();
    script.die(4);
    const Reconfigure second = script.plan();
    script.feed(Ready{0, 2});
    script.die(3);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(*script.last<Abort>(), (Abort{2, 3}));
    EXPECT_EQ(script.plan().epoch, 3);
    EXPECT_EQ(script.plan().why, "death of 4, death of 3");
    // Sources are holders by the plan of epoch 1, whatever epoch 2 may have moved meanwhile.
    for (const Transfer& one : script.plan().transfers) {
        const auto& slots = first.holders[0][static_cast<std::size_t>(one.from)];
        EXPECT_TRUE(std::count(slots.begin(), slots.end(), one.expert)) << one.from;
        EXPECT_NE(one.from, 3);
    }
    EXPECT_EQ(script.controller.counts().discarded, 1);  // by the first death; nothing ran since
    EXPECT_EQ(script.controller.counts().transfers, 0);  // none completed yet
    script.all_ready();
    EXPECT_EQ(script.controller.counts().transfers,
              static_cast<long>(script.plan().transfers.size()));
}

TEST(LazarusControllerReconfigure, EveryTransferIsNeededAndEnough) {
    auto job = small_job();
    job.layers = 3;
    job.experts = 6;
    job.initial_workers = 5;
    Script script(job);
    script.start();
    const Reconfigure before = script.plan();
    script.join(5);
    script.step();
    std::set<std::tuple<int, int, Worker>> moved;
    for (const Transfer& one : script.plan().transfers)
        EXPECT_TRUE(moved.insert({one.layer, one.expert, one.to}).second);
    for (std::size_t layer = 0; layer < 3; ++layer) {
        for (std::size_t i = 0; i < script.plan().training.size(); ++i) {
            for (int expert : script.plan().holders[layer][i]) {
                bool held = false;
                if (i < before.training.size()) {
                    const auto& slots = before.holders[layer][i];
                    held = std::count(slots.begin(), slots.end(), expert) > 0;
                }
                EXPECT_NE(held, moved.count({static_cast<int>(layer), expert,
                                             script.plan().training[i]}) > 0);
            }
        }
    }
}

TEST(LazarusControllerCheckpoint, IsOrderedBetweenCommitAndGoAndEachPartHasOneHolder) {
    Script script(checkpointed_job());
    script.start();
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Go");
    script.step();
    ASSERT_EQ(script.kinds(), "Commit WriteCheckpoint Go");
    const WriteCheckpoint& checkpoint = *script.last<WriteCheckpoint>();
    EXPECT_EQ(checkpoint.step, 2);
    EXPECT_EQ(checkpoint.dense_owner, 0);
    ASSERT_EQ(checkpoint.owners[0].size(), 4u);
    for (int expert = 0; expert < 4; ++expert) {
        EXPECT_THAT(script.holders(0, expert),
                    testing::Contains(checkpoint.owners[0][static_cast<std::size_t>(expert)]));
    }
    EXPECT_EQ(owners_of(checkpoint).size(), 4u);  // the work is shared out
}

TEST(LazarusControllerCheckpoint, ComesBeforeAReconfigurationAndNotAfterTheLastStep) {
    auto job = checkpointed_job();
    job.steps = 4;
    Script script(job);
    script.start();
    script.step();
    script.join(4);
    script.step();
    ASSERT_EQ(script.kinds(), "Commit WriteCheckpoint Reconfigure");
    EXPECT_EQ(owners_of(*script.last<WriteCheckpoint>()).count(4), 0u);
    script.all_ready();
    script.steps(2);
    EXPECT_EQ(script.kinds(), "Commit Stop");
}

TEST(LazarusControllerFallback, RestoresTheNewestCompleteCheckpoint) {
    Script script(checkpointed_job());
    script.start();
    script.steps(2);
    write_all(script);
    script.steps(3);  // checkpoint 4 is ordered; one part never gets written
    ASSERT_EQ(script.controller.committed(), 5);
    script.lose_expert_zero();
    const Reconfigure& plan = script.plan();
    EXPECT_EQ(plan.restore_step, 2);
    EXPECT_EQ(plan.resume_step, 2);
    EXPECT_THAT(plan.why, HasSubstr("lost expert 0 of layer 0"));
    EXPECT_THAT(plan.transfers, IsEmpty());
    EXPECT_THAT(plan.need_dense, IsEmpty());
    EXPECT_EQ(script.controller.committed(), 2);
    EXPECT_EQ(script.controller.counts().fallbacks, 1);
    EXPECT_EQ(script.controller.counts().no_replica_left, 1);
    EXPECT_EQ(script.controller.restart_reason(), RestartReason::no_replica_left);
    EXPECT_EQ(script.controller.counts().rolled_back, 3);
    EXPECT_EQ(script.controller.history().steps_in_window(), 0);
    script.all_ready();
    EXPECT_EQ(script.last<Go>()->step, 2);
}

TEST(LazarusControllerFallback, GoesBackToTheSeedWithoutACheckpoint) {
    Script script(small_job());
    script.start();
    script.steps(5);
    script.lose_expert_zero();
    EXPECT_EQ(script.plan().restore_step, 0);
    EXPECT_EQ(script.controller.committed(), 0);
    EXPECT_EQ(script.controller.counts().rolled_back, 5);
}

TEST(LazarusControllerFallback, APartStaysDurableAfterItsWritersDeath) {
    auto job = checkpointed_job();
    job.initial_workers = 6;
    Script script(job);
    script.start();
    script.steps(2);
    const WriteCheckpoint checkpoint{2, script.last<WriteCheckpoint>()->owners,
                                     script.last<WriteCheckpoint>()->dense_owner};
    const auto owners = owners_of(checkpoint);
    const Worker early = *owners.begin();
    script.feed(CheckpointWritten{early, 2});
    script.die(early);
    script.all_ready();
    const Worker late = *owners.rbegin();
    script.die(late);
    script.all_ready();
    // The last report arrives after its sender's death was noticed; it counts.
    for (Worker owner : owners) {
        if (owner != early) script.feed(CheckpointWritten{owner, 2});
    }
    ASSERT_EQ(script.controller.counts().fallbacks, 0);
    script.lose_expert_zero();
    EXPECT_EQ(script.plan().restore_step, 2);
}

TEST(LazarusControllerFallback, ADeathMeanwhileKeepsTheRestoreAndCountsOnce) {
    auto job = checkpointed_job();
    job.initial_workers = 6;
    Script script(job);
    script.start();
    script.steps(2);
    write_all(script);
    script.lose_expert_zero();
    ASSERT_EQ(script.plan().restore_step, 2);
    ASSERT_GE(script.plan().members.size(), 3u);
    script.die(script.plan().members.back());
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(script.plan().restore_step, 2);
    EXPECT_EQ(script.controller.counts().fallbacks, 1);
}

TEST(LazarusControllerFallback, LateReportsOfUndoneStepsDoNotCompleteACheckpoint) {
    auto job = checkpointed_job();
    job.initial_workers = 6;
    Script script(job);
    script.start();
    script.steps(2);
    write_all(script);
    script.steps(2);
    const WriteCheckpoint undone = *script.last<WriteCheckpoint>();
    ASSERT_EQ(undone.step, 4);
    script.lose_expert_zero();
    ASSERT_EQ(script.plan().restore_step, 2);
    for (Worker owner : owners_of(undone)) script.feed(CheckpointWritten{owner, 4});
    script.all_ready();
    script.step();
    script.join(10);
    script.join(11);
    script.lose_expert_zero();
    EXPECT_EQ(script.plan().restore_step, 2);
    EXPECT_EQ(script.controller.committed(), 2);
}

TEST(LazarusControllerFallback, EverybodyDeadStopsUnlessSomebodyWaits) {
    auto job = small_job();
    job.initial_workers = 1;
    job.slots = 4;
    {
        Script script(job);
        script.start();
        script.step();
        script.die(0);
        ASSERT_EQ(script.kinds(), "Stop");
        EXPECT_FALSE(script.last<Stop>()->ok);
        EXPECT_THAT(script.last<Stop>()->why, HasSubstr("every worker is gone"));
        EXPECT_EQ(script.controller.committed(), 1);  // what was reached is still told
    }
    {
        Script script(job);
        script.start();
        script.step();
        script.join(1);
        script.die(0);
        ASSERT_EQ(script.kinds(), "Reconfigure");
        EXPECT_THAT(script.plan().members, ElementsAre(1));
        EXPECT_EQ(script.plan().restore_step, 0);
        EXPECT_EQ(script.controller.counts().fallbacks, 1);
    }
}

}  // namespace
}  // namespace assay::lazarus
