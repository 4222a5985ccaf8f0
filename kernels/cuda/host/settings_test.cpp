#include "kernels/cuda/host/settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace assay::kernels::cuda {
namespace {

Device with(const std::map<std::string, std::string>& variables) {
    return with_settings(Device{132}, [&](const char* variable) -> const char* {
        const auto found = variables.find(variable);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

TEST(CudaSettings, ReplaceWhatTheyName) {
    const Device device = with({{"ASSAY_CUDA_PREFETCH_MB", "0"},
                                {"ASSAY_CUDA_WARPS_OF_ROW", "2"},
                                {"ASSAY_CUDA_PERSISTENT", "1"},
                                {"ASSAY_CUDA_TENSOR_CORES", "0"},
                                {"ASSAY_CUDA_WARPGROUPS", "1"}});
    EXPECT_EQ(device.multiprocessors, 132);
    EXPECT_EQ(device.prefetch_mb, 0);
    EXPECT_EQ(device.down_prefetch_mb, Device{}.down_prefetch_mb);
    EXPECT_EQ(device.most_warps_of_row, 2);
    EXPECT_EQ(device.persistent, 1);
    EXPECT_FALSE(device.tensor_cores);
    EXPECT_FALSE(device.warpgroups) << "nobody can turn on what a device has not";
}

// More warps of a row than a block has would leave no row for it: the kernel would never end.
TEST(CudaSettings, AreKeptToWhatKernelsCanDo) {
    EXPECT_EQ(with({{"ASSAY_CUDA_WARPS_OF_ROW", "64"}}).most_warps_of_row, rows_warps);
    EXPECT_EQ(with({{"ASSAY_CUDA_WARPS_OF_ROW", "-3"}}).most_warps_of_row, 1);
    EXPECT_EQ(with({{"ASSAY_CUDA_ROUTER_BLOCKS", "0"}}).router_blocks, 1);
    EXPECT_EQ(with({{"ASSAY_CUDA_PREFETCH_MB", "1000000"}}).prefetch_mb, 2047);
}

TEST(CudaSettings, ThatAreNoNumbersAreLeftOut) {
    for (const char* text : {"", "many", "4x", "99999999999", " 1", "0.5"})
        EXPECT_EQ(with({{"ASSAY_CUDA_PREFETCH_MB", text}}).prefetch_mb, Device{}.prefetch_mb)
            << text;
}

}  // namespace
}  // namespace assay::kernels::cuda
