#include <gtest/gtest.h>

#include "kernels/reference/device_calls_test.hpp"

namespace assay::kernels {
namespace {

TEST(CpuMemory, CopiesAndGathers) {
    const AssayKernels& cpu = *assay_cpu_kernels(nullptr);
    const reference::Context context = reference::make_context(&cpu, 2);
    reference::expect_copies_and_gathers(cpu, context.get());
}

TEST(CpuMemory, ReadsAndTimes) {
    const AssayKernels& cpu = *assay_cpu_kernels(nullptr);
    const reference::Context context = reference::make_context(&cpu, 2);
    reference::expect_reads_and_times(cpu, context.get());
}

TEST(CpuMemory, RecordsNothing) {
    const AssayKernels& cpu = *assay_cpu_kernels(nullptr);
    EXPECT_EQ(cpu.begin_recording, nullptr);
    EXPECT_EQ(cpu.replay, nullptr);
}

}  // namespace
}  // namespace assay::kernels
