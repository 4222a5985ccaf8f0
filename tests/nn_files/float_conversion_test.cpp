#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {
namespace {

// By the definition of IEEE 754 binary16.
double float16_by_definition(unsigned bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31),
              fraction = static_cast<int>(bits & 1023);
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Float16, AllFiniteValues) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        if ((bits >> 10 & 31) == 31) continue;
        const float value = from_float16(static_cast<std::uint16_t>(bits));
        ASSERT_EQ(value, float16_by_definition(bits)) << std::hex << bits;
        ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << std::hex << bits;
    }
}

TEST(Float16, InfinitiesAndNans) {
    EXPECT_EQ(from_float16(0x7c00), std::numeric_limits<float>::infinity());
    EXPECT_EQ(from_float16(0xfc00), -std::numeric_limits<float>::infinity());
    for (const unsigned bits : {0x7c01u, 0x7e00u, 0x7fffu, 0xfc01u, 0xffffu})
        EXPECT_TRUE(std::isnan(from_float16(static_cast<std::uint16_t>(bits)))) << bits;
}

TEST(Bfloat16, EveryValueReturns) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const float value = from_bfloat16(static_cast<std::uint16_t>(bits));
        if (std::isnan(value)) {
            ASSERT_TRUE(std::isnan(from_bfloat16(to_bfloat16(value)))) << std::hex << bits;
            continue;
        }
        ASSERT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16);
        ASSERT_EQ(to_bfloat16(value), bits);
    }
}

TEST(Bfloat16, RoundsToTheNearestAndTiesToEven) {
    std::mt19937_64 engine(7);
    for (int i = 0; i < 200000; ++i) {
        auto bits = static_cast<std::uint32_t>(engine());
        if (i % 4 == 0) bits = (bits & 0xffff0000u) | 0x8000u;  // a tie
        const float value = std::bit_cast<float>(bits);
        if (!std::isfinite(value)) continue;
        const std::uint16_t rounded = to_bfloat16(value);
        // Its neighbours towards and away from zero; beyond the largest comes what would be 2^128.
        const auto truncated = static_cast<std::uint16_t>(bits >> 16);
        const double below = from_bfloat16(truncated);
        const auto next = static_cast<std::uint16_t>(truncated + 1);
        const double above = std::isfinite(from_bfloat16(next))
                                 ? from_bfloat16(next)
                                 : std::copysign(std::ldexp(1, 128), value);
        const double to_below = std::abs(value - below), to_above = std::abs(above - value);
        const std::uint16_t expected = to_below < to_above   ? truncated
                                       : to_above < to_below ? next
                                       : truncated % 2 == 0  ? truncated
                                                             : next;
        ASSERT_EQ(rounded, expected) << std::hex << bits;
    }
}

TEST(Bfloat16, NanStaysNan) {
    for (const std::uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
        EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(std::bit_cast<float>(bits))))) << bits;
}

}  // namespace
}  // namespace assay::nn
