// The guard of a training, event by event.
#include "impls/dr_post_training/policy/guard/guard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "suite/drive/recording.hpp"

namespace assay::dr_post_training {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DrGuard : public ::testing::Test {
  protected:
    Guard guard{GuardSettings{.steps = 4, .checkpoint_every = 2, .patience_s = 5}};
    std::uint64_t timer = 0;
    elastic::Epoch epoch = 0;  ///< in force

    /// Without timers, whose newest number is kept.
    std::vector<GuardAction> on(const GuardEvent& event) {
        std::vector<GuardAction> actions, told;
        guard.on(event, 0, actions);
        for (const GuardAction& action : actions)
            if (const auto* started = std::get_if<drive::StartTimer>(&action)) {
                EXPECT_EQ(started->after_s, 5);
                timer = started->id;
            } else {
                if (const auto* form = std::get_if<Reconfigure>(&action)) {
                    EXPECT_EQ(form->epoch, ++epoch);
                }
                told.push_back(action);
            }
        return told;
    }
    std::string digest(Step step) { return "state " + std::to_string(step); }
    GuardAction restores(WorkerId worker, Step step, elastic::Epoch number) const {
        return Reconfigure{
            .epoch = number, .members = {worker}, .restore_step = step, .resume_step = step};
    }
    GuardAction computes(Step step) const { return elastic::Go{.epoch = epoch, .step = step}; }
    GuardAction applies(Step step) const { return elastic::Commit{.epoch = epoch, .step = step}; }
    std::vector<GuardAction> ready(WorkerId worker, std::string digest) {
        return on(Ready{.worker = worker, .epoch = epoch, .digest = std::move(digest)});
    }
    std::vector<GuardAction> computed(Step at, WorkerId worker = 0) {
        return on(StepDone{.worker = worker, .epoch = epoch, .step = at});
    }
    std::vector<GuardAction> not_finite(Step at) {
        return on(StepFailed{.worker = 0, .epoch = epoch, .step = at, .why = "loss is none"});
    }
    /// Joined and ready: step 0 is being computed.
    void begin() {
        on(Joined{.worker = 0, .more = false});
        ready(0, digest(0));
    }
    std::vector<GuardAction> step(Step at, WorkerId worker = 0) {
        computed(at, worker);
        return on(Applied{.worker = worker, .step = at, .digest = digest(at + 1)});
    }
};

TEST_F(DrGuard, ComputesAppliesAndStoresEveryStep) {
    EXPECT_THAT(on(Joined{.worker = 0, .more = false}), ElementsAre(restores(0, 0, 1)));
    EXPECT_THAT(ready(0, digest(0)), ElementsAre(computes(0)));
    EXPECT_THAT(computed(0), ElementsAre(applies(0)));
    EXPECT_THAT(on(Applied{.worker = 0, .step = 0, .digest = digest(1)}),
                ElementsAre(GuardAction(StoreStep{.step = 0, .digest = digest(1)}), computes(1)));
    EXPECT_THAT(step(1), ElementsAre(GuardAction(StoreStep{.step = 1, .digest = digest(2)}),
                                     GuardAction(WriteCheckpoint{.step = 2})));
    EXPECT_THAT(on(CheckpointWritten{.worker = 0, .step = 2}), ElementsAre(computes(2)));
    step(2);
    step(3);
    EXPECT_THAT(on(CheckpointWritten{.worker = 0, .step = 4}),
                ElementsAre(GuardAction(Stop{.ok = true, .why = ""})));
    EXPECT_TRUE(guard.over());
    EXPECT_THAT(guard.checkpoints(), ElementsAre(2, 4));
    EXPECT_TRUE(on(Died{0}).empty());
}

TEST_F(DrGuard, ComputesOnceMoreWhatIsNotFinite) {
    begin();
    EXPECT_THAT(not_finite(0),
                ElementsAre(GuardAction(Note{.kind = "redo", .step = 0, .why = "not finite"}),
                            computes(0)));
    EXPECT_THAT(computed(0), ElementsAre(applies(0)));
    on(Applied{.worker = 0, .step = 0, .digest = digest(1)});
    // The next step has two attempts of its own.
    not_finite(1);
    const auto ended = not_finite(1);
    ASSERT_EQ(ended.size(), 2U);
    EXPECT_EQ(std::get<Note>(ended[0]).kind, "failed");
    EXPECT_FALSE(std::get<Stop>(ended[1]).ok);
    EXPECT_THAT(std::get<Stop>(ended[1]).why, HasSubstr("step 1 is not finite, 2 times"));
}

TEST_F(DrGuard, ReplacesAWorkerAndRepeatsStepsWithoutStoringThem) {
    begin();
    step(0);
    step(1);
    on(CheckpointWritten{.worker = 0, .step = 2});
    step(2);
    EXPECT_THAT(on(Died{0}),
                ElementsAre(GuardAction(Note{.kind = "restart", .step = 3, .why = "worker 0 died"}),
                            GuardAction(drive::Spawn{})));
    // What the dead one still says changes nothing.
    EXPECT_TRUE(computed(3).empty());
    EXPECT_THAT(on(Joined{.worker = 1, .more = false}), ElementsAre(restores(1, 2, 2)));
    ready(1, digest(2));
    EXPECT_THAT(step(2, 1), ElementsAre(computes(3)));
    EXPECT_EQ(guard.counts().repeated, 1);
    EXPECT_THAT(step(3, 1).front(), GuardAction(StoreStep{.step = 3, .digest = digest(4)}));
}

TEST_F(DrGuard, AStepThatComesOutOtherwiseFails) {
    begin();
    step(0);
    on(Died{0});
    on(Joined{.worker = 1, .more = false});
    ready(1, digest(0));
    computed(0, 1);
    const auto ended = on(Applied{.worker = 1, .step = 0, .digest = "another"});
    EXPECT_THAT(std::get<Stop>(ended.back()).why, HasSubstr("step 0 came out otherwise"));
}

TEST_F(DrGuard, ADamagedStateComesFromTheCheckpoint) {
    begin();
    step(0);
    step(1);
    on(CheckpointWritten{.worker = 0, .step = 2});
    computed(2);
    EXPECT_THAT(on(StateDamaged{.worker = 0, .epoch = epoch, .step = 2, .why = "digest"}),
                ElementsAre(GuardAction(Note{.kind = "restore", .step = 2, .why = "digest"}),
                            restores(0, 2, 2)));
    EXPECT_EQ(guard.counts().restored, 1);
    // What it says of the epoch before changes nothing.
    EXPECT_TRUE(on(Ready{.worker = 0, .epoch = 1, .digest = digest(2)}).empty());
    EXPECT_THAT(ready(0, digest(2)), ElementsAre(computes(2)));
}

TEST_F(DrGuard, ATornCheckpointIsDroppedForTheOneBefore) {
    begin();
    step(0);
    step(1);
    on(CheckpointWritten{.worker = 0, .step = 2});
    on(Died{0});
    on(Joined{.worker = 1, .more = false});
    const auto again = on(RestoreFailed{.worker = 1, .epoch = epoch, .step = 2, .why = "torn"});
    ASSERT_EQ(again.size(), 3U);
    EXPECT_EQ(again[1], GuardAction(DropCheckpoint{2}));
    EXPECT_EQ(again[2], restores(1, 0, 3));
    // So is one that holds another state than the one that was stored.
    ready(1, digest(0));
    step(0, 1);
    step(1, 1);
    on(CheckpointWritten{.worker = 1, .step = 2});
    on(Died{1});
    on(Joined{.worker = 2, .more = false});
    EXPECT_EQ(ready(2, "poison").back(), restores(2, 0, 5));
    EXPECT_EQ(guard.counts().unreadable, 2);
    EXPECT_FALSE(
        std::get<Stop>(
            on(RestoreFailed{.worker = 2, .epoch = epoch, .step = 0, .why = "no model"}).back())
            .ok);
}

TEST_F(DrGuard, GoesOnWithoutACheckpointThatFindsTheDiskFull) {
    begin();
    step(0);
    step(1);
    EXPECT_THAT(
        on(CheckpointFailed{.worker = 0, .step = 2, .why = "disk full"}),
        ElementsAre(GuardAction(Note{.kind = "checkpoint_failed", .step = 2, .why = "disk full"}),
                    computes(2)));
    EXPECT_TRUE(guard.checkpoints().empty());
}

TEST_F(DrGuard, KeepsTwoGenerations) {
    guard = Guard(GuardSettings{.steps = 9, .checkpoint_every = 1, .patience_s = 5});
    begin();
    for (Step at = 0; at < 4; ++at) {
        step(at);
        const auto told = on(CheckpointWritten{.worker = 0, .step = at + 1});
        if (at >= 2) {
            EXPECT_EQ(told.front(), GuardAction(DropCheckpoint{at - 1}));
        }
    }
    EXPECT_THAT(guard.checkpoints(), ElementsAre(3, 4));
}

TEST_F(DrGuard, ASilentWorkerIsReplaced) {
    begin();
    const auto before = timer;
    computed(0);
    EXPECT_TRUE(on(Timer{before}).empty());  // it has answered since
    const auto told = on(Timer{timer});
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(std::get<drive::Evict>(told[0]).worker, 0);
    EXPECT_TRUE(on(Timer{timer}).empty());
    EXPECT_EQ(on(Died{0}).back(), GuardAction(drive::Spawn{}));
}

TEST_F(DrGuard, GivesUpWhereNothingComesOfIt) {
    begin();
    WorkerId worker = 0;
    std::vector<GuardAction> told;
    for (int deaths = 0; deaths < 9; ++deaths) {
        told = on(Died{worker++});
        on(Joined{.worker = worker, .more = false});
    }
    EXPECT_THAT(std::get<Stop>(told.back()).why, HasSubstr("8 recoveries in a row"));
}

TEST_F(DrGuard, IsStoredAndToldAgain) {
    const GuardSettings settings{.steps = 1};
    std::ostringstream out;
    drive::RecordingWriter writer(out, recorded_guard, settings);
    drive::RecordedPolicy<Guard> recorded(
        drive::RecordedPolicy<Guard>::Sink(
            [&](const drive::Decision<Guard>& decision) { writer.write(decision); }),
        settings);
    recorded.on(Joined{.worker = 0, .more = false}, 0);
    recorded.on(Ready{.worker = 0, .epoch = 1, .digest = "a"}, 0.5);
    recorded.on(StepDone{.worker = 0, .epoch = 1, .step = 0}, 1);
    recorded.on(Applied{.worker = 0, .step = 0, .digest = "b"}, 2);
    std::istringstream in(out.str());
    const auto replay = drive::replay_policy<Guard, GuardSettings>(in, recorded_guard);
    EXPECT_EQ(replay.decisions, 4U);
    EXPECT_FALSE(replay.difference);
}

}  // namespace
}  // namespace assay::dr_post_training
