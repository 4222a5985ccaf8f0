// What every back end's memory, copies and timing must do; a test program says on which.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/reference/random_problem.hpp"

namespace assay::kernels::reference {

inline void expect_copies_and_gathers(const AssayKernels& kernels, AssayContext* context) {
    constexpr std::size_t piece = 48, pieces = 7;
    std::vector<std::uint8_t> bytes(piece * pieces);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    const std::vector<std::int32_t> ids{5, 0, 5, 6};
    auto* const from = static_cast<std::uint8_t*>(kernels.allocate(context, bytes.size()));
    void* const to = kernels.allocate(context, bytes.size());
    auto* const device_ids =
        static_cast<std::int32_t*>(kernels.allocate(context, ids.size() * sizeof ids[0]));
    ASSERT_TRUE(from && to && device_ids);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(from) % 64, 0U);
    EXPECT_EQ(kernels.upload(context, from, bytes.data(), bytes.size()), ASSAY_OK);
    EXPECT_EQ(kernels.upload(context, device_ids, ids.data(), ids.size() * sizeof ids[0]),
              ASSAY_OK);

    std::vector<std::uint8_t> back(bytes.size());
    EXPECT_EQ(kernels.copy(context, to, from, bytes.size()), ASSAY_OK);
    EXPECT_EQ(kernels.download(context, back.data(), to, back.size()), ASSAY_OK);
    EXPECT_EQ(back, bytes);

    EXPECT_EQ(kernels.gather(context, to, from, device_ids, 4, piece), ASSAY_OK);
    EXPECT_EQ(kernels.download(context, back.data(), to, back.size()), ASSAY_OK);
    for (std::size_t i = 0; i < ids.size(); ++i)
        EXPECT_EQ(
            std::memcmp(&back[i * piece], &bytes[static_cast<std::size_t>(ids[i]) * piece], piece),
            0)
            << i;
    // What lies behind the pieces stays.
    EXPECT_EQ(std::memcmp(&back[4 * piece], &bytes[4 * piece], 3 * piece), 0);

    EXPECT_EQ(kernels.copy(context, nullptr, from, 1), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(kernels.copy(context, nullptr, nullptr, 0), ASSAY_OK);
    EXPECT_EQ(kernels.gather(context, to, from, device_ids, 1, 8), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(kernels.gather(context, to, from, device_ids, -1, piece), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(kernels.gather(nullptr, to, from, device_ids, 1, piece), ASSAY_BAD_ARGUMENT);
    for (void* const memory : {static_cast<void*>(from), to, static_cast<void*>(device_ids)})
        kernels.release(context, memory);
    kernels.release(context, nullptr);
}

inline void expect_reads_and_times(const AssayKernels& kernels, AssayContext* context) {
    constexpr std::size_t bytes = std::size_t{1} << 22;
    void* const memory = kernels.allocate(context, bytes);
    ASSERT_TRUE(memory);
    double nothing = -1, reading = -1;
    EXPECT_EQ(kernels.begin_timing(context), ASSAY_OK);
    EXPECT_EQ(kernels.end_timing(context, &nothing), ASSAY_OK);
    EXPECT_EQ(kernels.begin_timing(context), ASSAY_OK);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(kernels.read_pass(context, memory, bytes), ASSAY_OK);
    EXPECT_EQ(kernels.end_timing(context, &reading), ASSAY_OK);
    EXPECT_GE(nothing, 0);
    EXPECT_GT(reading, 0);
    EXPECT_EQ(kernels.read_pass(context, memory, bytes - 16), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(kernels.read_pass(context, nullptr, bytes), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(kernels.end_timing(context, nullptr), ASSAY_BAD_ARGUMENT);
    kernels.release(context, memory);
}

}  // namespace assay::kernels::reference
