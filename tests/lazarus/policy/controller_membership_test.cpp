// Start, joins, leaves: who trains when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/lazarus/policy/controller_script.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::SizeIs;

TEST(LazarusControllerStart, WaitsForTheInitialWorkersAndStartsFromTheSeed) {
    Script script(small_job());
    for (Worker worker : {2, 0, 3}) {
        script.join(worker);
        EXPECT_THAT(script.actions, IsEmpty());
    }
    script.join(1);
    ASSERT_EQ(script.kinds(), "Reconfigure");
    EXPECT_EQ(script.plan().epoch, 1);
    EXPECT_EQ(script.plan().why, "start");
    EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(script.plan().training, script.plan().members);
    EXPECT_EQ(script.plan().restore_step, 0);
    EXPECT_EQ(script.plan().resume_step, 0);
    EXPECT_THAT(script.plan().transfers, IsEmpty());
    EXPECT_THAT(script.plan().need_dense, IsEmpty());
    script.all_ready();
    ASSERT_EQ(script.kinds(), "Go");
    EXPECT_EQ(*script.last<Go>(), (Go{1, 0}));
    EXPECT_EQ(script.controller.counts().fallbacks, 0);
}

TEST(LazarusControllerStart, ADeathBeforeLowersTheNumber) {
    Script script(small_job());
    script.join(0);
    script.join(1);
    script.die(1);  // had joined
    script.join(2);
    EXPECT_THAT(script.actions, IsEmpty());
    script.die(3);  // had not
    ASSERT_EQ(script.kinds(), "Reconfigure");
    EXPECT_THAT(script.plan().members, ElementsAre(0, 2));
}

TEST(LazarusControllerStart, StopsWhenNobodyIsLeftToWaitFor) {
    Script script(small_job());
    for (Worker worker : {0, 1, 2}) script.die(worker);
    EXPECT_FALSE(script.controller.stopped());
    script.die(3);
    ASSERT_EQ(script.kinds(), "Stop");
    EXPECT_FALSE(script.last<Stop>()->ok);
    EXPECT_THAT(script.last<Stop>()->why, HasSubstr("every worker is gone"));
}

TEST(LazarusControllerStart, StopsWithASentenceWhenTheSlotsCannotHoldTheExperts) {
    auto job = small_job();
    job.experts = 9;
    Script script(job);
    for (Worker worker = 0; worker < 4; ++worker) script.join(worker);
    ASSERT_EQ(script.kinds(), "Stop");
    EXPECT_THAT(script.last<Stop>()->why,
                HasSubstr("4 workers with 2 slots each cannot hold 9 experts"));
}

TEST(LazarusControllerStart, ADeathDuringTheFirstReconfigurationIsNoFallback) {
    Script script(small_job());
    for (Worker worker = 0; worker < 4; ++worker) script.join(worker);
    script.die(2);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(script.plan().epoch, 2);
    EXPECT_EQ(script.plan().restore_step, 0);
    EXPECT_EQ(script.plan().why, "start, death of 2");
    EXPECT_EQ(script.controller.counts().fallbacks, 0);
}

TEST(LazarusControllerStart, AJoinOvertakenByTheDeathIsIgnored) {
    Script script(small_job());
    script.die(3);
    script.join(3);
    script.join(0);
    script.join(1);
    EXPECT_THAT(script.actions, IsEmpty());
    script.join(2);
    EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 2));
}

TEST(LazarusControllerStart, NoStepsToDoStopsOnceEverybodyIsReady) {
    auto job = small_job();
    job.steps = 0;
    Script script(job);
    script.start();
    ASSERT_EQ(script.kinds(), "Stop");
    EXPECT_TRUE(script.last<Stop>()->ok);
}

TEST(LazarusControllerStart, RefusesSettingsThatMakeNoSense) {
    const auto refused = [](auto change) {
        auto job = small_job();
        change(job);
        EXPECT_THROW(Controller{job}, std::invalid_argument);
    };
    refused([](auto& job) { job.layers = 0; });
    refused([](auto& job) { job.experts = -1; });
    refused([](auto& job) { job.slots = 0; });
    refused([](auto& job) { job.min_replicas = 0; });
    refused([](auto& job) { job.initial_workers = 0; });
    refused([](auto& job) { job.steps = -1; });
    refused([](auto& job) { job.rebalance_every = -1; });
    refused([](auto& job) { job.checkpoint_every = -1; });
    refused([](auto& job) { job.join_wait_s = -0.5; });
}

// ---- joins -------------------------------------------------------------------------------------

TEST(LazarusControllerJoin, IsLazyAndFetchesEverything) {
    Script script(small_job());
    script.start();
    script.join(4);
    EXPECT_THAT(script.actions, IsEmpty());
    script.step();
    ASSERT_EQ(script.kinds(), "Commit Reconfigure");
    const Reconfigure& plan = script.plan();
    EXPECT_EQ(plan.why, "join of 4");
    EXPECT_THAT(plan.members, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(plan.need_dense, ElementsAre(4));
    ASSERT_THAT(plan.dense_sources, SizeIs(1));
    EXPECT_THAT(plan.dense_sources, IsSubsetOf({0, 1, 2, 3}));
    EXPECT_EQ(plan.resume_step, 1);
    EXPECT_EQ(plan.restore_step, std::nullopt);
    long to_joiner = 0;
    for (const Transfer& one : plan.transfers) {
        EXPECT_NE(one.from, 4);
        to_joiner += one.to == 4;
    }
    const std::set<int> slots(plan.holders[0][4].begin(), plan.holders[0][4].end());
    EXPECT_EQ(to_joiner, static_cast<long>(slots.size()));
    script.all_ready();
    EXPECT_EQ(*script.last<Go>(), (Go{2, 1}));
}

TEST(LazarusControllerJoin, DenseStateComesFromAsManyMembersAsThereAre) {
    Script script(small_job());
    script.start();
    for (Worker joiner : {4, 5, 6, 7, 8, 9}) script.join(joiner);
    script.step();
    const Reconfigure& plan = script.plan();
    EXPECT_THAT(plan.need_dense, ElementsAre(4, 5, 6, 7, 8, 9));
    ASSERT_THAT(plan.dense_sources, SizeIs(6));
    for (Worker member : {0, 1, 2, 3}) {
        const auto joiners =
            std::count(plan.dense_sources.begin(), plan.dense_sources.end(), member);
        EXPECT_TRUE(joiners == 1 || joiners == 2) << member << " serves " << joiners << " joiners";
    }
}

TEST(LazarusControllerJoin, TheMemberWithTheFewestExpertsToSendServesASingleJoiner) {
    Script script(small_job());
    script.start();
    script.join(4);
    script.step();
    const Reconfigure& plan = script.plan();
    const auto experts_from = [&](Worker member) {
        return std::count_if(plan.transfers.begin(), plan.transfers.end(),
                             [&](const Transfer& one) { return one.from == member; });
    };
    const Worker source = plan.dense_sources.at(0);
    for (Worker member : {0, 1, 2, 3}) {
        EXPECT_GE(experts_from(member), experts_from(source)) << member;
        if (member < source) {
            EXPECT_GT(experts_from(member), experts_from(source)) << "ties go to the lower id";
        }
    }
}

TEST(LazarusControllerJoin, DuringAReconfigurationWaitsForTheNextCommit) {
    Script script(small_job());
    script.start();
    script.die(3);
    script.join(4);
    EXPECT_THAT(script.actions, IsEmpty());
    script.all_ready();
    ASSERT_EQ(script.kinds(), "Go");
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Reconfigure");
    EXPECT_EQ(script.plan().why, "join of 4");
}

TEST(LazarusControllerJoin, ADiscardedStepKeepsJoinersWaiting) {
    Script script(small_job());
    script.start();
    script.join(4);
    script.die(0);
    EXPECT_THAT(script.plan().members, ElementsAre(1, 2, 3));
}

TEST(LazarusControllerJoin, ACommitThatRollsForwardTakesJoinersAlong) {
    Script script(small_job());
    script.start();
    script.join(4);
    for (Worker worker : {0, 1, 2}) script.done(worker);
    script.die(3);
    ASSERT_EQ(script.kinds(), "Commit Reconfigure");
    EXPECT_EQ(script.plan().why, "death of 3, join of 4");
    EXPECT_THAT(script.plan().training, ElementsAre(0, 1, 2, 4));
}

TEST(LazarusControllerJoin, AdmittedJoinersStayWhenADeathStartsTheReconfigurationOver) {
    Script script(small_job());
    script.start();
    script.join(4);
    script.step();
    script.die(0);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_THAT(script.plan().members, ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(script.plan().need_dense, ElementsAre(4));
    ASSERT_THAT(script.plan().dense_sources, SizeIs(1));
    EXPECT_THAT(script.plan().dense_sources, IsSubsetOf({1, 2, 3}));
}

TEST(LazarusControllerJoin, AJoinerThatDiesDuringItsReconfigurationIsLeftOut) {
    Script script(small_job());
    script.start();
    script.join(4);
    script.step();
    script.die(4);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(script.plan().transfers, IsEmpty());  // the old holdings are the plan again
}

TEST(LazarusControllerJoin, AWaitingJoinerThatDiesChangesNothing) {
    Script script(small_job());
    script.start();
    script.join(4);
    script.die(4);
    EXPECT_THAT(script.actions, IsEmpty());
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Go");
}

TEST(LazarusControllerJoin, ArrivalsAreBatchedForTheWait) {
    auto job = small_job();
    job.join_wait_s = 120;
    Script script(job);
    script.start();
    script.join(4);
    ASSERT_EQ(script.kinds(), "StartTimer");
    const StartTimer timer = *script.last<StartTimer>();
    EXPECT_EQ(timer.after_s, 120);
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Go");
    script.join(5);
    EXPECT_THAT(script.actions, IsEmpty());
    script.feed(Timer{timer.id + 1});
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Go");
    script.feed(Timer{timer.id});
    EXPECT_THAT(script.actions, IsEmpty());
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Reconfigure");
    EXPECT_EQ(script.plan().why, "join of 4, join of 5");
    script.all_ready();
    script.join(6);
    ASSERT_EQ(script.kinds(), "StartTimer");
    EXPECT_NE(script.last<StartTimer>()->id, timer.id);
}

TEST(LazarusControllerJoin, IsTakenAtOnceWhereTheOthersAreTooFew) {
    auto job = small_job();
    job.join_wait_s = 120;
    job.initial_workers = 2;
    job.experts = 4;
    Script script(job);
    script.start();
    script.join(2);
    script.die(0);
    ASSERT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_THAT(script.plan().training, ElementsAre(1, 2));
}

// ---- leaves ------------------------------------------------------------------------------------

TEST(LazarusControllerLeave, IsLazyServesTransfersAndIsDismissedAtGo) {
    Script script(small_job());
    script.start();
    script.leave(1);
    EXPECT_THAT(script.actions, IsEmpty());
    script.step();
    ASSERT_EQ(script.kinds(), "Commit Reconfigure");
    EXPECT_EQ(script.plan().why, "leave of 1");
    EXPECT_THAT(script.plan().members, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(script.plan().training, ElementsAre(0, 2, 3));
    script.all_ready();
    ASSERT_EQ(script.kinds(), "Dismiss Go");
    EXPECT_EQ(script.last<Dismiss>()->worker, 1);
    script.die(1);  // its orderly exit
    EXPECT_THAT(script.actions, IsEmpty());
    EXPECT_EQ(script.controller.counts().deaths, 0);
    EXPECT_EQ(script.controller.counts().leaves, 1);
}

TEST(LazarusControllerLeave, TheLastHolderMayLeaveWithoutAFallback) {
    auto job = small_job();
    job.initial_workers = 3;  // six slots: experts 0 and 1 have one holder each
    job.min_replicas = 1;
    Script script(job);
    script.start();
    const auto holders = script.holders(0, 0);
    ASSERT_EQ(holders.size(), 1u);
    script.leave(holders[0]);
    script.step();
    EXPECT_EQ(script.plan().restore_step, std::nullopt);
    bool served = false;
    for (const Transfer& one : script.plan().transfers)
        served |= one.expert == 0 && one.from == holders[0];
    EXPECT_TRUE(served);
}

TEST(LazarusControllerLeave, ALeaverThatDiesBeforeIsADeath) {
    Script script(small_job());
    script.start();
    script.leave(1);
    script.die(1);
    EXPECT_EQ(script.kinds(), "Abort Reconfigure");
    EXPECT_EQ(script.plan().why, "death of 1");
    script.all_ready();
    EXPECT_EQ(script.kinds(), "Go");
    EXPECT_EQ(script.controller.counts().leaves, 0);
    EXPECT_EQ(script.controller.counts().deaths, 1);
}

TEST(LazarusControllerLeave, AWaitingWorkerIsDismissedAtOnce) {
    Script script(small_job());
    script.join(0);
    script.leave(0);
    EXPECT_EQ(script.kinds(), "Dismiss");
    script.join(1);
    script.join(2);
    script.join(3);
    EXPECT_THAT(script.plan().members, ElementsAre(1, 2, 3));
    script.all_ready();
    script.join(4);
    script.leave(4);
    EXPECT_EQ(script.kinds(), "Dismiss");
    script.step();
    EXPECT_EQ(script.kinds(), "Commit Go");
}

TEST(LazarusControllerLeave, StopsWhereTheRestCannotHoldTheExperts) {
    auto job = small_job();
    job.initial_workers = 2;
    Script script(job);
    script.start();
    script.leave(0);
    script.step();
    ASSERT_EQ(script.kinds(), "Commit Stop");
    EXPECT_THAT(script.last<Stop>()->why, HasSubstr("1 worker with 2 slots each cannot hold 4"));
    EXPECT_EQ(script.controller.committed(), 1);
}

}  // namespace
}  // namespace assay::lazarus
