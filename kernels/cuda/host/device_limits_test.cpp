#include "kernels/cuda/host/device_limits.hpp"

#include <gtest/gtest.h>

namespace assay::kernels::cuda {
namespace {

// What NVIDIA's data sheets say, from the clocks that they say.
TEST(CudaDeviceLimits, AreThoseOfTheDataSheets) {
    EXPECT_NEAR(memory_peak(1593000, 5120), 2.039e12, 1e9);  // A100 80 GB
    EXPECT_NEAR(memory_peak(2619000, 5120), 3.352e12, 1e9);  // H100 SXM
    EXPECT_NEAR(bf16_peak(8, 0, 108, 1410000), 312e12, 1e12);
    EXPECT_NEAR(bf16_peak(9, 0, 132, 1830000), 989.4e12, 1e12);
}

TEST(CudaDeviceLimits, OfUnknownOnesAreNone) {
    EXPECT_EQ(bf16_peak(8, 9, 142, 2520000), 0);
    EXPECT_EQ(memory_peak(0, 384), 0);
}

}  // namespace
}  // namespace assay::kernels::cuda
