// Failures of workers that live: steps that are not finite, groups that break, checkpoints that
// cannot be read, and waiting for nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lazarus/policy/controller_script.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Cause = GroupBroken::Cause;

TEST(LazarusControllerTrouble, AFailedStepIsTriedAgainByTheSameMembers) {
    Script script(small_job());
    script.start();
    script.step();
    script.done(0);
    script.feed(StepFailed{1, 1, 0, "not finite"});  // an old step
    script.feed(StepFailed{9, 1, 1, "not finite"});  // unknown
    EXPECT_THAT(script.actions, IsEmpty());
    script.feed(StepFailed{2, 1, 1, "not finite"});
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(*script.last<Abort>(), (Abort{1, -1}));
    EXPECT_EQ(script.plan().why, "step 1 failed on worker 2: not finite");
    EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(script.plan().resume_step, 1);
    for (Worker worker : {1, 3}) script.feed(StepDone{worker, 1, 1, script.even_loads()});
    script.feed(StepFailed{3, 1, 1, "not finite"});
    EXPECT_THAT(script.actions, IsEmpty());  // of the epoch that is over
    EXPECT_EQ(script.controller.committed(), 1);
    EXPECT_EQ(script.controller.counts().retries, 1);
    EXPECT_EQ(script.controller.counts().discarded, 1);
    script.all_ready();
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Go");
}

TEST(LazarusControllerTrouble, AStepThatFailsTooOftenStops) {
    auto job = small_job();
    job.most_retries = 2;
    Script script(job);
    script.start();
    for (int i = 0; i < 2; ++i) {
        script.feed(StepFailed{0, script.plan().epoch, 0, "not finite"});
        script.all_ready();
    }
    script.step();  // the row ends here
    for (int i = 0; i < 2; ++i) {
        script.feed(StepFailed{0, script.plan().epoch, 1, "not finite"});
        ASSERT_EQ(script.kinds(), "Abort Reconfigure");
        script.all_ready();
    }
    script.feed(StepFailed{1, script.plan().epoch, 1, "not finite"});
    ASSERT_EQ(script.kinds(), "Stop");
    EXPECT_FALSE(script.last<Stop>()->ok);
    EXPECT_THAT(script.last<Stop>()->why, HasSubstr("step 1 failed 3 times in a row"));
    EXPECT_THAT(script.last<Stop>()->why, HasSubstr("learning rate"));
}

TEST(LazarusControllerTrouble, CorruptMessagesAreTriedAgainAndThenTheSenderIsEvicted) {
    auto job = small_job();
    job.most_retries = 1;
    Script script(job);
    script.start();
    script.feed(GroupBroken{1, 2, Cause::corrupt_message, "bad checksum"});
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(script.plan().why, "corrupt message from worker 2: bad checksum");
    // While the group is being built, too.
    script.feed(GroupBroken{1, 2, Cause::corrupt_message, "bad checksum"});  // stale
    EXPECT_THAT(script.actions, IsEmpty());
    script.feed(GroupBroken{2, 2, Cause::corrupt_message, "bad checksum"});
    ASSERT_EQ(script.kinds(), "Abort Evict");
    EXPECT_EQ(script.last<Evict>()->worker, 2);
    script.die(2);
    ASSERT_EQ(script.kinds(), "Reconfigure");
    EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 3));
}

TEST(LazarusControllerTrouble, AnUnreachableWorkerIsEvictedAndNothingHappensBeforeItsDeath) {
    Script script(small_job());
    script.start();
    script.done(0);
    script.feed(GroupBroken{1, 3, Cause::unreachable, "no answer"});
    ASSERT_EQ(script.kinds(), "Abort Evict");
    script.done(1);
    script.done(2);
    script.feed(StepFailed{1, 1, 0, "not finite"});
    script.feed(GroupBroken{1, 1, Cause::unreachable, "no answer"});
    script.join(4);
    script.die(0);  // another one meanwhile
    EXPECT_THAT(script.actions, IsEmpty());
    script.die(3);
    ASSERT_EQ(script.kinds(), "Reconfigure");
    EXPECT_EQ(script.controller.counts().evictions, 1);
    EXPECT_EQ(script.controller.counts().discarded, 1);
    EXPECT_EQ(script.controller.counts().commits, 0);
}

TEST(LazarusControllerTrouble, ABadCheckpointGivesWayToTheOneBeforeAndThenToTheSeed) {
    auto job = small_job();
    job.checkpoint_every = 2;
    Script script(job);
    script.start();
    for (int i = 0; i < 2; ++i) {
        script.steps(2);
        const WriteCheckpoint checkpoint = *script.last<WriteCheckpoint>();
        for (Worker owner = 0; owner < 4; ++owner)
            script.feed(CheckpointWritten{owner, checkpoint.step});
    }
    script.step();
    script.join(10);
    script.join(11);
    script.lose_expert_zero();
    ASSERT_EQ(script.plan().restore_step, 4);
    const Worker member = script.plan().members.front();
    script.feed(RestoreFailed{member, script.plan().epoch, 2, "torn"});  // nobody asked for it
    EXPECT_THAT(script.actions, IsEmpty());
    script.feed(RestoreFailed{member, script.plan().epoch, 4, "torn"});
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(script.plan().restore_step, 2);
    EXPECT_EQ(script.controller.committed(), 2);
    EXPECT_EQ(script.controller.counts().rolled_back, 3);
    EXPECT_THAT(script.plan().why, HasSubstr("checkpoint 4 cannot be read"));
    script.feed(RestoreFailed{member, script.plan().epoch, 2, "torn"});
    EXPECT_EQ(script.plan().restore_step, 0);
    EXPECT_EQ(script.controller.counts().rolled_back, 5);
    EXPECT_EQ(script.controller.counts().bad_checkpoints, 2);
    EXPECT_EQ(script.controller.counts().fallbacks, 1);
    script.all_ready();
    EXPECT_EQ(script.last<Go>()->step, 0);
}

TEST(LazarusControllerTrouble, WaitingForNodesKeepsWhatTheSurvivorsHold) {
    auto job = small_job();
    job.initial_workers = 2;
    job.slots = 3;  // expert 0 and two more on each
    job.experts = 4;
    job.wait_for_nodes = true;
    Script script(job);
    script.start();
    script.steps(2);
    script.leave(1);
    script.step();
    EXPECT_EQ(script.kinds(), "Commit");  // one node of three slots is too few
    EXPECT_EQ(script.controller.counts().waits, 1);
    script.join(2);
    ASSERT_EQ(script.kinds(), "Reconfigure");
    EXPECT_EQ(script.plan().restore_step, std::nullopt);
    EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 2));
    EXPECT_THAT(script.plan().training, ElementsAre(0, 2));
    EXPECT_EQ(script.plan().resume_step, 3);
}

}  // namespace
}  // namespace assay::lazarus
