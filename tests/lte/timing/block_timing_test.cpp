// One feed-forward block on devices: the CPU, and a stand-in for a GPU that keeps recordings. What
// is computed must be the same everywhere; how long it takes is not looked at.
#include <gtest/gtest.h>

#include <cmath>

#include "impls/lte/timing/block_timing.hpp"
#include "impls/lte/timing/timed_block.hpp"
#include "kernels/plugin/cuda_plugin.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

const AssayKernels& stand_in() {
    static const kernels::Plugin plugin = kernels::load_plugin(FAKE_DEVICE);
    EXPECT_NE(plugin.kernels, nullptr) << plugin.why_not;
    return *plugin.kernels;
}

BlockSetting small(const AssayKernels& kernels) {
    BlockSetting setting;
    setting.kernels = &kernels;
    setting.least_read_bytes = 1e6;
    setting.most_memory_bytes = 4e6;
    setting.rounds = 3;
    return setting;
}

class BlockTiming : public testing::TestWithParam<bool> {
  protected:
    const AssayKernels& kernels = GetParam() ? stand_in() : *assay_cpu_kernels(nullptr);
    TimedDevice device{kernels};
    BlockShape shape{"test", 64, 320, ASSAY_SWIGLU};
};

void expect_near(const std::vector<float>& values, const std::vector<float>& expected) {
    ASSERT_EQ(values.size(), expected.size());
    float largest = 0;
    for (const float value : expected) largest = std::max(largest, std::abs(value));
    ASSERT_GT(largest, 0);
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected[i], 1e-5 * largest) << i;
}

TEST_P(BlockTiming, IndexingComputesWhatTheSparseKernelDoes) {
    for (const AssayType type : {ASSAY_BF16, ASSAY_F16, ASSAY_F32}) {
        const TimedBlock block(device, small(kernels), shape, type, 0.5, 1);
        EXPECT_NEAR(block.sparsity(), 0.5, 0.05);
        block.run(1, BlockVariant::lte);
        const std::vector<float> sparse = block.output();
        block.run(1, BlockVariant::index);
        expect_near(block.output(), sparse);
        block.run(1, BlockVariant::dense);
        EXPECT_NE(block.output(), sparse);
    }
}

TEST_P(BlockTiming, AtNoSparsityTheSparseBlockIsTheDenseOne) {
    const TimedBlock block(device, small(kernels), shape, ASSAY_BF16, 0, 2);
    EXPECT_EQ(block.sparsity(), 0);
    block.run(0, BlockVariant::dense);
    const std::vector<float> dense = block.output();
    block.run(0, BlockVariant::lte);
    expect_near(block.output(), dense);
}

TEST_P(BlockTiming, WhatIsRepeatedComputesWhatItDidAtFirst) {
    const TimedBlock block(device, small(kernels), shape, ASSAY_BF16, 0.5, 3);
    block.run(2, BlockVariant::lte);
    const std::vector<float> once = block.output();
    const auto again = device.repeatable([&] { block.run(2, BlockVariant::lte); });
    block.run(0, BlockVariant::dense);
    ASSERT_NE(block.output(), once);
    again();
    EXPECT_EQ(block.output(), once);
    EXPECT_EQ(device.records(), GetParam());
}

TEST_P(BlockTiming, ARecordingThatFailsLeavesTheDeviceUsable) {
    const auto fail = [] { throw UserError("as planned"); };
    if (device.records()) {
        EXPECT_THROW(device.repeatable(fail), UserError);
    }
    EXPECT_GE(device.seconds([] {}), 0);
}

TEST_P(BlockTiming, CountsBytesOfWhatIsActiveAndPairsEachRoundWithItsRead) {
    const double expert = 3.0 * 32 * 64 * 2, router = 10.0 * 64 * 2;
    int told = 0;
    for (const double sparsity : {0.0, 0.5, 1.0}) {
        const BlockTimes times = time_block(small(kernels), shape, ASSAY_BF16, BlockVariant::lte,
                                            sparsity, 1, [&](double) { ++told; });
        EXPECT_NEAR(times.bytes, (1 - times.sparsity) * 10 * expert + router, 1);
        EXPECT_NEAR(times.sparsity, sparsity, 0.05);
        EXPECT_GE(times.working_set_bytes, sparsity < 1 ? 1e6 : 1e4);
        EXPECT_GT(times.read_share, 0);
        EXPECT_GT(times.read_bandwidth, 0);
        // Medians over an odd number of rounds: the same round in the middle.
        EXPECT_NEAR(times.latency_ratio * times.speedup, 1, 1e-9);
    }
    EXPECT_EQ(told, 9);
    const BlockTimes dense =
        time_block(small(kernels), shape, ASSAY_BF16, BlockVariant::dense, 0.5, 1, [](double) {});
    EXPECT_EQ(dense.sparsity, 0);
    EXPECT_EQ(dense.bytes, 10 * expert);
}

INSTANTIATE_TEST_SUITE_P(Devices, BlockTiming, testing::Bool());

}  // namespace
}  // namespace assay::lte
