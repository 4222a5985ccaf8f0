// Memory, time and recordings of the CUDA plug-in on a GPU; skipped where there is none.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda/harness/gpu_test.hpp"
#include "kernels/reference/device_calls_test.hpp"

namespace assay::kernels::cuda {
namespace {

using CudaMemory = harness::GpuTest;

TEST_F(CudaMemory, CopiesAndGathers) {
    reference::expect_copies_and_gathers(*kernels, context.get());
}

TEST_F(CudaMemory, ReadsAndTimes) { reference::expect_reads_and_times(*kernels, context.get()); }

TEST_F(CudaMemory, ARecordingRunsWhenReplayedAndNotBefore) {
    const std::vector<int> ones(1000, 1), zeros(1000, 0);
    const std::size_t bytes = ones.size() * sizeof(int);
    void* const from = kernels->allocate(context.get(), bytes);
    void* const to = kernels->allocate(context.get(), bytes);
    ASSERT_TRUE(from && to);
    ASSERT_EQ(kernels->upload(context.get(), from, ones.data(), bytes), ASSAY_OK);
    ASSERT_EQ(kernels->upload(context.get(), to, zeros.data(), bytes), ASSAY_OK);
    AssayRecording* recording = nullptr;
    ASSERT_EQ(kernels->begin_recording(context.get()), ASSAY_OK);
    EXPECT_EQ(kernels->copy(context.get(), to, from, bytes), ASSAY_OK);
    ASSERT_EQ(kernels->end_recording(context.get(), &recording), ASSAY_OK);
    const auto fetched = [&] {
        std::vector<int> values(ones.size());
        EXPECT_EQ(kernels->download(context.get(), values.data(), to, bytes), ASSAY_OK);
        return values;
    };
    EXPECT_EQ(fetched(), zeros);
    for (int turn = 0; turn < 2; ++turn) {
        ASSERT_EQ(kernels->replay(context.get(), recording), ASSAY_OK);
        EXPECT_EQ(fetched(), ones);
        ASSERT_EQ(kernels->upload(context.get(), to, zeros.data(), bytes), ASSAY_OK);
    }
    EXPECT_EQ(kernels->replay(context.get(), nullptr), ASSAY_BAD_ARGUMENT);
    kernels->destroy_recording(context.get(), recording);
    kernels->release(context.get(), from);
    kernels->release(context.get(), to);
}

}  // namespace
}  // namespace assay::kernels::cuda
