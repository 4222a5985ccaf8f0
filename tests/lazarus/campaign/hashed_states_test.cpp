// The campaign's bookkeeping of who holds what: a worker with another state than its history leads
// to is found out.
#include "impls/lazarus/campaign/hashed_states.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::lazarus::campaign {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ExpertId first{0, 0}, second{0, 1};

/// Two workers, one layer, two experts: both hold the first, worker 1 the second too.
Reconfigure plan(Epoch epoch, std::optional<Step> restore) {
    Reconfigure plan{};
    plan.epoch = epoch;
    plan.members = plan.training = {0, 1};
    plan.holders = {{{0}, {0, 1}}};
    plan.restore_step = restore;
    return plan;
}

class States : public testing::Test {
  protected:
    States() : states(job(), 7, [this](std::string what) { complaints.push_back(what); }) {}

    static ControllerConfig job() {
        ControllerConfig job;
        job.layers = 1;
        job.experts = 2;
        return job;
    }
    void start() {
        const Reconfigure first_plan = plan(1, 0);
        states.asked_for(first_plan);
        for (Worker worker : {0, 1}) {
            states.expects(worker, first_plan);
            states.restored(worker, first_plan);
            states.adopted(worker, first_plan);
        }
    }
    void commit(Epoch epoch, Step step, std::vector<Worker> those_who_apply) {
        states.asked_for(Commit{epoch, step});
        lineage.push_back({step, epoch, {0, 1}, plan(1, 0).holders});
        for (Worker worker : those_who_apply)
            states.applied(worker, {epoch, step}, plan(epoch, std::nullopt));
    }

    std::vector<std::string> complaints;
    std::vector<CommittedStep> lineage;
    HashedStates states;
};

TEST_F(States, WhoGoesThroughTheWholeHistoryHasItsState) {
    start();
    commit(1, 0, {0, 1});
    commit(1, 1, {0, 1});
    EXPECT_THAT(complaints, IsEmpty());
    EXPECT_TRUE(states.agrees_with(lineage));
    EXPECT_TRUE(states.ends_as(0, plan(1, 0), lineage));
    EXPECT_TRUE(states.ends_as(1, plan(1, 0), lineage));
    lineage.pop_back();
    EXPECT_FALSE(states.agrees_with(lineage));
    EXPECT_FALSE(states.ends_as(1, plan(1, 0), lineage));
}

TEST_F(States, WhoMissedAStepIsFoundOutAtTheNext) {
    start();
    commit(1, 0, {1});
    EXPECT_THAT(complaints, IsEmpty());
    commit(1, 1, {0, 1});
    EXPECT_THAT(complaints, ElementsAre(HasSubstr("worker 0 has another expert 0 of layer 0"),
                                        HasSubstr("worker 0 has another dense state")));
}

TEST_F(States, WhatSomebodyLacksItCannotSendWriteOrGoWithout) {
    start();
    states.moved(0, 1, second);
    EXPECT_THAT(complaints, ElementsAre(HasSubstr("to send what it does not hold")));
    states.wrote(0, 5, second);
    EXPECT_THAT(complaints.back(), HasSubstr("checkpoint 5, which it lacks"));
    Reconfigure swapped = plan(2, std::nullopt);
    swapped.holders = {{{0, 1}, {0}}};
    states.expects(0, swapped);
    states.adopted(0, swapped);
    EXPECT_THAT(complaints.back(), HasSubstr("goes into epoch 2 without expert 1 of layer 0"));
    states.moved(1, 0, first);
    EXPECT_THAT(complaints.back(), HasSubstr("worker 0 fetched what it held"));
}

TEST_F(States, ACheckpointOfAnotherHistoryIsNotTheRightOne) {
    start();
    commit(1, 0, {0, 1});
    states.wrote(0, 1, first);
    states.wrote(1, 1, second);
    states.wrote(1, 1, std::nullopt);
    // Step 0 is undone and made again with more replicas: what was written is of the first try.
    Reconfigure other = plan(2, 0);
    other.holders = {{{0, 0}, {0, 1}}};
    states.asked_for(other);
    for (Worker worker : {0, 1}) states.restored(worker, other);
    for (Worker worker : {0, 1}) states.adopted(worker, other);
    states.asked_for(Commit{2, 0});
    for (Worker worker : {0, 1}) states.applied(worker, {2, 0}, other);
    EXPECT_THAT(complaints, IsEmpty());
    states.asked_for(plan(3, 1));
    states.restored(0, plan(3, 1));
    ASSERT_FALSE(complaints.empty());
    EXPECT_THAT(complaints.front(), HasSubstr("or has another history's"));
}

}  // namespace
}  // namespace assay::lazarus::campaign
