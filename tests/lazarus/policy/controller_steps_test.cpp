// The step protocol: when a step commits, when it is discarded, what counts as history.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/lazarus/policy/controller_script.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(LazarusControllerStep, CommitsOnceEveryLiveMemberReported) {
    Script script(small_job());
    script.start();
    for (Worker worker : {3, 0, 2}) {
        script.done(worker);
        EXPECT_THAT(script.actions, IsEmpty());
    }
    script.done(0);  // a repetition stands for nobody else
    EXPECT_THAT(script.actions, IsEmpty());
    script.done(1);
    ASSERT_EQ(script.kinds(), "Commit Go");
    EXPECT_EQ(*script.last<Commit>(), (Commit{1, 0}));
    EXPECT_EQ(*script.last<Go>(), (Go{1, 1}));
    ASSERT_EQ(script.controller.lineage().size(), 1u);
    EXPECT_EQ(script.controller.lineage()[0].training, script.plan().training);
    EXPECT_EQ(script.controller.lineage()[0].holders, script.plan().holders);
}

TEST(LazarusControllerStep, StopsOkAfterTheLastOne) {
    auto job = small_job();
    job.steps = 3;
    Script script(job);
    script.start();
    script.steps(3);
    ASSERT_EQ(script.kinds(), "Commit Stop");
    EXPECT_TRUE(script.last<Stop>()->ok);
    script.die(0);
    EXPECT_THAT(script.actions, IsEmpty());
}

TEST(LazarusControllerStep, ADeathBeforeDiscardsIt) {
    Script script(small_job());
    script.start();
    script.step();
    script.done(0);
    script.done(1);
    script.die(3);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(*script.last<Abort>(), (Abort{1, 3}));
    EXPECT_EQ(script.plan().resume_step, 1);
    EXPECT_EQ(script.plan().why, "death of 3");
    EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 2));
    EXPECT_EQ(script.controller.counts().discarded, 1);
    EXPECT_EQ(script.controller.committed(), 1);
    EXPECT_EQ(script.controller.history().steps_in_window(), 1);
    script.all_ready();
    EXPECT_EQ(*script.last<Go>(), (Go{2, 1}));
}

TEST(LazarusControllerStep, RollsForwardWhenEverySurvivorReported) {
    Script script(small_job());
    script.start();
    for (Worker worker : {0, 1, 2}) script.done(worker);
    script.die(3);
    ASSERT_EQ(script.kinds(), "Commit Reconfigure");
    EXPECT_EQ(script.plan().resume_step, 1);
    EXPECT_EQ(script.controller.counts().discarded, 0);
    // The dead worker's share is in the sums: it trained this step.
    EXPECT_THAT(script.controller.lineage()[0].training, ElementsAre(0, 1, 2, 3));
}

TEST(LazarusControllerStep, RollsForwardIntoTheEnd) {
    auto job = small_job();
    job.steps = 1;
    Script script(job);
    script.start();
    for (Worker worker : {0, 1, 2}) script.done(worker);
    script.die(3);
    ASSERT_EQ(script.kinds(), "Commit Stop");
    EXPECT_TRUE(script.last<Stop>()->ok);
}

TEST(LazarusControllerStep, DoesNotRollForwardWhatIsLostWithTheDead) {
    auto job = small_job();
    job.steps = 1;
    job.initial_workers = 2;
    job.slots = 4;
    job.experts = 5;
    job.min_replicas = 1;
    Script script(job);
    script.start();
    const auto holders = script.holders(0, 0);
    ASSERT_EQ(holders.size(), 1u);
    script.join(2);  // keeps it feasible
    script.done(1 - holders[0]);
    script.die(holders[0]);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(script.plan().restore_step, 0);
    EXPECT_EQ(script.controller.counts().commits, 0);
    EXPECT_EQ(script.controller.counts().fallbacks, 1);
}

TEST(LazarusControllerStep, IgnoresStaleAndStrangeReports) {
    Script script(small_job());
    script.start();
    script.die(3);
    script.all_ready();                                   // epoch 2
    script.feed(StepDone{0, 1, 0, script.even_loads()});  // old epoch
    script.feed(StepDone{1, 2, 1, script.even_loads()});  // a step to come
    script.feed(StepDone{2, 2, -1, script.even_loads()});
    script.feed(StepDone{3, 2, 0, {}});   // dead; not even its loads count
    script.feed(StepDone{77, 2, 0, {}});  // unknown
    script.feed(Ready{0, 2});
    EXPECT_THAT(script.actions, IsEmpty());
    // Nobody's stale report stands for a fresh one: worker 0's is waited for.
    script.done(2);
    script.done(1);
    EXPECT_THAT(script.actions, IsEmpty());
    script.done(0);
    EXPECT_EQ(script.kinds(), "Commit Go");
}

TEST(LazarusControllerStep, StopsWhenWorkersDisagreeAboutTheLoads) {
    Script script(small_job());
    script.start();
    script.done(0, {{1, 2, 3, 4}});
    script.done(2, {{1, 2, 4, 3}});
    ASSERT_EQ(script.kinds(), "Stop");
    EXPECT_THAT(script.last<Stop>()->why, HasSubstr("workers 0 and 2 disagree"));
}

TEST(LazarusControllerStep, StopsOnLoadsOfAWrongShape) {
    for (const std::vector<Loads>& loads :
         {std::vector<Loads>{}, {{1, 2, 3}}, {{1, 2, 3, 4}, {1, 2, 3, 4}}, {{1, 2, 3, -4}}}) {
        Script script(small_job());
        script.start();
        script.done(1, loads);
        ASSERT_EQ(script.kinds(), "Stop");
        EXPECT_THAT(script.last<Stop>()->why, HasSubstr("worker 1 reported"));
    }
}

// ---- history and rebalancing -------------------------------------------------------------------

TEST(LazarusControllerHistory, RebalanceFollowsTheLoadsAndOpensANewWindow) {
    auto job = small_job();
    job.rebalance_every = 3;
    job.min_replicas = 1;
    Script script(job);
    script.start();
    EXPECT_EQ(script.holders(0, 3).size(), 2u);
    script.step({{1, 1, 1, 97}});
    script.step({{1, 1, 1, 97}});
    EXPECT_EQ(script.kinds(), "Commit Go");
    EXPECT_THAT(script.controller.history().window(), ElementsAre(Loads{2, 2, 2, 194}));
    script.step({{1, 1, 1, 97}});
    ASSERT_EQ(script.kinds(), "Commit Reconfigure");
    EXPECT_EQ(script.plan().why, "rebalance");
    EXPECT_GT(script.holders(0, 3).size(), 2u);
    EXPECT_EQ(script.controller.history().steps_in_window(), 0);
    EXPECT_EQ(script.controller.counts().rebalances, 1);

    // A death right after: the window is empty, the loads in use stay.
    script.all_ready();
    Worker hot_only = -1;
    for (std::size_t i = 0; i < 4; ++i) {
        if (script.plan().holders[0][i] == std::vector{3, 3}) hot_only = script.plan().training[i];
    }
    ASSERT_NE(hot_only, -1);
    script.die(hot_only);
    ASSERT_EQ(script.controller.counts().fallbacks, 0);
    int hot = 0;
    for (const auto& slots : script.plan().holders[0])
        hot += std::count(slots.begin(), slots.end(), 3);
    EXPECT_EQ(hot, 3);  // six slots: one for each cold expert, the rest for the hot one
}

TEST(LazarusControllerHistory, AFailurePlansWithTheWindowAndKeepsIt) {
    auto job = small_job();
    job.rebalance_every = 50;
    job.min_replicas = 1;
    Script script(job);
    script.start();
    script.step({{97, 1, 1, 1}});
    script.done(0, {{1, 1, 1, 9'000'000}});  // of a step that never commits
    script.die(3);
    int hot = 0;
    for (const auto& slots : script.plan().holders[0])
        hot += std::count(slots.begin(), slots.end(), 0);
    EXPECT_EQ(hot, 3);
    EXPECT_THAT(script.controller.history().window(), ElementsAre(Loads{97, 1, 1, 1}));
}

}  // namespace
}  // namespace assay::lazarus
