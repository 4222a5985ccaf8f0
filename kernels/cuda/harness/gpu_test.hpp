// A test on a GPU.
#pragma once

#include <gtest/gtest.h>

#include "kernels/plugin/cuda_plugin.hpp"
#include "kernels/reference/random_problem.hpp"

namespace assay::kernels::cuda::harness {

/// With a context on the first GPU; skipped where there is none.
class GpuTest : public testing::Test {
  protected:
    void SetUp() override {
        const Plugin& plugin = cuda_plugin();
        if (!plugin.kernels) GTEST_SKIP() << plugin.why_not;
        kernels = plugin.kernels;
        context = reference::make_context(kernels, 0);
        ASSERT_TRUE(context) << kernels->last_error(nullptr);
    }

    const AssayKernels* kernels = nullptr;
    reference::Context context;
};

}  // namespace assay::kernels::cuda::harness
