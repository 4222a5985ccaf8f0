// What may run where, and what the table says about itself.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/assay_kernels.h"
#include "kernels/cpu/instruction_set.hpp"
#include "kernels/cpu/streamed_memory.hpp"

namespace assay::kernels {
namespace {

constexpr std::uint32_t bit(int n) { return 1u << n; }
constexpr std::uint32_t avx = bit(12) | bit(27) | bit(28) | bit(29);
constexpr std::uint32_t avx2 = bit(5);
constexpr std::uint32_t avx512 = avx2 | bit(16) | bit(17) | bit(30) | bit(31);
constexpr std::uint64_t saves_ymm = 0b110, saves_zmm = 0b1110'0110;

TEST(Processor, NeedsInstructionsAndAnOperatingSystemThatSavesTheRegisters) {
    EXPECT_EQ(widest_vectors({}), Vectors::portable);
    EXPECT_EQ(widest_vectors({avx, avx512, saves_zmm}), Vectors::avx512);
    EXPECT_EQ(widest_vectors({avx, avx512, saves_ymm}), Vectors::avx2);
    EXPECT_EQ(widest_vectors({avx, avx512, 0b10}), Vectors::portable);
    EXPECT_EQ(widest_vectors({avx, avx2, saves_zmm}), Vectors::avx2);
    EXPECT_EQ(widest_vectors({avx, 0, saves_zmm}), Vectors::portable);
    for (const int missing : {12, 27, 28, 29})
        EXPECT_EQ(widest_vectors({avx & ~bit(missing), avx512, saves_zmm}), Vectors::portable);
    for (const int missing : {16, 17, 30, 31})
        EXPECT_EQ(widest_vectors({avx, avx512 & ~bit(missing), saves_zmm}), Vectors::avx2);
}

TEST(CpuKernels, ChoosesTheWidestAndObeysTheLimit) {
    const char* const names[] = {"cpu/portable", "cpu/avx2", "cpu/avx512"};
    const auto widest = static_cast<int>(widest_vectors(processor_bits()));
    ASSERT_NE(assay_cpu_kernels(nullptr), nullptr);
    EXPECT_STREQ(assay_cpu_kernels(nullptr)->name, names[widest]);
    for (int i = 0; i < 3; ++i) {
        const AssayKernels* const kernels = assay_cpu_kernels(names[i]);
        ASSERT_EQ(kernels != nullptr, i <= widest) << names[i];
        if (!kernels) continue;
        EXPECT_STREQ(kernels->name, names[i]);
        EXPECT_EQ(kernels->version, ASSAY_KERNELS_VERSION);
        EXPECT_TRUE(kernels->gemv && kernels->router && kernels->sparse_ffn &&
                    kernels->sparse_ffn_workspace && kernels->synchronise);
    }
    EXPECT_EQ(assay_cpu_kernels("cpu/avx1024"), nullptr);
    EXPECT_EQ(assay_cpu_kernels(""), nullptr);
}

TEST(CpuKernels, HasAContextForAnyNumberOfThreads) {
    const AssayKernels* const kernels = assay_cpu_kernels(nullptr);
    for (const int threads : {-3, 0, 1, 5}) {
        AssayContext* const context = kernels->create(threads, 0, nullptr);
        ASSERT_NE(context, nullptr);
        EXPECT_STREQ(kernels->last_error(context), "");
        EXPECT_EQ(kernels->synchronise(context), ASSAY_OK);
        kernels->destroy(context);
    }
    kernels->destroy(nullptr);
    EXPECT_GT(std::strlen(kernels->last_error(nullptr)), 0u);
    EXPECT_EQ(kernels->synchronise(nullptr), ASSAY_BAD_ARGUMENT);
}

TEST(ReadBandwidth, IsThatOfAMemory) {
    for (const int threads : {1, 2}) {
        const double bandwidth = measured_read_bandwidth(threads, 64);
        EXPECT_GT(bandwidth, 1e7);
        EXPECT_LT(bandwidth, 1e13);
    }
}

}  // namespace
}  // namespace assay::kernels
