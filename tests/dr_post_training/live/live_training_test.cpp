// A guarded training with a real worker that is killed, frozen, poisoned and damaged.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "impls/dr_post_training/experiments/x_faults.hpp"
#include "impls/dr_post_training/live/guarded_training.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/dr_post_training/scenarios.hpp"

namespace assay::dr_post_training {
namespace {

const bool one_thread = (at::set_num_threads(1), true);

GuardedSettings four_steps() { return {.arm = "layer", .steps = 4, .seed = 5, .rate = 1e-3}; }

TEST(GuardedTrainings, AreFunctionsOfTheirSettings) {
    GuardedTraining one(four_steps()), other(four_steps());
    for (Step step = 0; step < 3; ++step) {
        EXPECT_EQ(one.digest(), other.digest());
        const auto before = one.digest();
        const auto computed = one.compute(step);
        EXPECT_TRUE(computed.finite);
        EXPECT_EQ(one.digest(), before);  // nothing is changed before it is applied
        EXPECT_EQ(one.compute(step).selections, computed.selections);
        other.compute(step);
        one.apply(step);
        other.apply(step);
        EXPECT_NE(one.digest(), before);
    }
    EXPECT_EQ(one.digest(), other.digest());
}

TEST(GuardedTrainings, NoticeWhatIsNotFiniteAndWhatChanged) {
    GuardedTraining training(four_steps());
    const auto untouched = training.digest();
    training.poison_next_step();
    const auto poisoned = training.compute(0);
    EXPECT_TRUE(std::isnan(poisoned.loss)) << "planted in the forward pass";
    EXPECT_FALSE(poisoned.finite);
    EXPECT_EQ(poisoned.selections, "") << "nothing is chosen by scores that are not finite";
    EXPECT_EQ(training.digest(), untouched);
    EXPECT_TRUE(training.compute(0).finite);
    const auto before = training.digest();
    training.flip_bit_of_state(77);
    EXPECT_NE(training.digest(), before);
    training.flip_bit_of_state(77);
    EXPECT_EQ(training.digest(), before);
}

TEST(GuardedTrainings, GoOnFromACheckpointBitForBit) {
    const testing::TemporaryFolder folder;
    const auto file = folder.path() / "step-2.state";
    GuardedTraining one(four_steps());
    for (Step step = 0; step < 2; ++step) one.compute(step), one.apply(step);
    one.write(file, 2);
    GuardedTraining other(four_steps());
    other.read(file, 2);
    EXPECT_EQ(other.digest(), one.digest());
    for (auto* training : {&one, &other}) training->compute(2), training->apply(2);
    EXPECT_EQ(other.digest(), one.digest());
}

TEST(GuardedTrainings, RefuseCheckpointsThatAreNotTheirs) {
    const testing::TemporaryFolder folder;
    const auto file = folder.path() / "step-1.state";
    GuardedTraining training(four_steps());
    const auto initial = training.digest();
    training.compute(0);
    training.apply(0);
    const auto refused = [&](Step step = 1) {
        EXPECT_THROW(training.read(file, step), BadCheckpoint);
        EXPECT_EQ(training.digest(), initial);  // nothing half read is left
        training.compute(0);
        training.apply(0);
    };
    refused();  // not there
    EXPECT_THROW(training.write(file, 1, nn::CheckpointDamage::no_space), std::system_error);
    EXPECT_FALSE(std::filesystem::exists(file));
    training.write(file, 1, nn::CheckpointDamage::torn);
    refused();
    training.write(file, 1);
    refused(2);
    {
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(-5, std::ios::end);
        bytes.put('\x7f');
    }
    refused();
    std::ofstream(file) << "{}\n";
    refused();
    std::ofstream(file) << "[1\n";
    refused();
    auto settings = four_steps();
    settings.seed = 6;
    GuardedTraining(settings).write(file, 1);
    refused();
}

FaultyTraining faulty(const std::string& scenario, const std::filesystem::path& scratch) {
    return {.arm = "layer",
            .steps = 8,
            .checkpoint_every = 2,
            .faults = parse_fault_plan(scenario),
            .seed = 1,
            .scratch = scratch};
}

class LiveTraining : public ::testing::TestWithParam<Scenario> {};

// Each fault leaves its trace, and none in the result: run() fails where it does.
TEST_P(LiveTraining, EndsAsWithoutFaults) {
    const testing::TemporaryFolder folder;
    MemoryRecorder recorder;
    run(faulty(GetParam().faults, folder.path()), recorder);
    EXPECT_EQ(recorder.value("state_equal_to_oracle"), 1);
    EXPECT_EQ(recorder.value("stored_steps"), 8);
    ScenarioCounts counts;
    for_each_field(counts, [&](std::string_view name, long& count) {
        count = static_cast<long>(recorder.value(std::string(name)));
    });
    EXPECT_EQ(counts, GetParam().counts);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, LiveTraining,
                         ::testing::ValuesIn(elastic::rows_of(elastic::Clock::real, scenarios())),
                         [](const auto& info) { return info.param.name; });

TEST(LiveTrainings, GiveUpWhatIsNotFiniteTwice) {
    const testing::TemporaryFolder folder;
    MemoryRecorder recorder;
    try {
        run(faulty("nan:rank=0@step=3;nan:rank=0@step=3", folder.path()), recorder);
        FAIL() << "it went on";
    } catch (const SampleError& error) {
        EXPECT_EQ(error.status(), SampleStatus::failed);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("not finite"));
    }
    bool said = false;
    for (const auto& event : recorder.events) said = said || event.kind == "failed";
    EXPECT_TRUE(said);
}

}  // namespace
}  // namespace assay::dr_post_training
