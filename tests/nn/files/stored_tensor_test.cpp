#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "impls/nn/files/stored_tensor.hpp"
#include "impls/nn/files/untrusted_file.hpp"
#include "tests/nn/files/grid_weights.hpp"

namespace assay::nn {
namespace {

using testing::ElementsAreArray;

std::vector<float> floats(TensorType type, const std::vector<std::byte>& bytes,
                          std::int64_t elements, std::int64_t first, std::int64_t count) {
    const UntrustedFile file("t", bytes);
    const TensorEntry tensor{"t", type, {elements}, &file, 0, bytes.size()};
    std::vector<float> out(static_cast<std::size_t>(count));
    to_floats(tensor, first, out);
    return out;
}

TEST(StoredBytes, PerType) {
    EXPECT_EQ(stored_bytes(TensorType::f32, 96), 384u);
    EXPECT_EQ(stored_bytes(TensorType::f16, 96), 192u);
    EXPECT_EQ(stored_bytes(TensorType::bf16, 7), 14u);
    EXPECT_EQ(stored_bytes(TensorType::q8_0, 96), 3u * 34);
    EXPECT_EQ(stored_bytes(TensorType::q4_0, 96), 3u * 18);
    EXPECT_EQ(stored_bytes(TensorType::q4_1, 96), 3u * 20);
    EXPECT_THROW(stored_bytes(TensorType::q4_0, 33), std::invalid_argument);
    EXPECT_THROW(stored_bytes(TensorType::f32, std::int64_t{1} << 62), std::overflow_error);
}

// Blocks written out by hand: scale 2^-3 (0x3000), offset −1.5 (0xbe00); low halves of the bytes
// are the elements 0 … 15, high halves 16 … 31.
TEST(ToFloats, BlockOfQ4_1) {
    ByteString bytes;
    bytes.number(std::uint16_t{0x3000}).number(std::uint16_t{0xbe00});
    std::vector<double> expected(32);
    for (int i = 0; i < 16; ++i) {
        const int low = i, high = (7 * i + 3) % 16;
        bytes.number(static_cast<std::uint8_t>(low + 16 * high));
        expected[static_cast<std::size_t>(i)] = 0.125 * low - 1.5;
        expected[static_cast<std::size_t>(i) + 16] = 0.125 * high - 1.5;
    }
    EXPECT_THAT(floats(TensorType::q4_1, bytes.bytes, 32, 0, 32), ElementsAreArray(expected));
}

TEST(ToFloats, BlockOfQ4_0) {
    ByteString bytes;
    bytes.number(std::uint16_t{0xb000});  // −2^-3
    std::vector<double> expected(32);
    for (int i = 0; i < 16; ++i) {
        const int low = 15 - i, high = (5 * i) % 16;
        bytes.number(static_cast<std::uint8_t>(low + 16 * high));
        expected[static_cast<std::size_t>(i)] = -0.125 * (low - 8);
        expected[static_cast<std::size_t>(i) + 16] = -0.125 * (high - 8);
    }
    EXPECT_THAT(floats(TensorType::q4_0, bytes.bytes, 32, 0, 32), ElementsAreArray(expected));
}

TEST(ToFloats, BlockOfQ8_0) {
    ByteString bytes;
    bytes.number(std::uint16_t{0x0001});  // the smallest subnormal, 2^-24
    std::vector<double> expected;
    for (int i = 0; i < 32; ++i) {
        const int q = i == 0 ? -128 : i == 1 ? 127 : 5 * i - 80;
        bytes.number(static_cast<std::int8_t>(q));
        expected.push_back(q * 0x1p-24);
    }
    EXPECT_THAT(floats(TensorType::q8_0, bytes.bytes, 32, 0, 32), ElementsAreArray(expected));
}

class EveryType : public testing::TestWithParam<TensorType> {};

TEST_P(EveryType, GridReturns) {
    const auto weights = grid_weights(160, 3);
    const auto bytes = stored_grid(weights, GetParam());
    ASSERT_EQ(bytes.size(), stored_bytes(GetParam(), 160));
    EXPECT_EQ(floats(GetParam(), bytes, 160, 0, 160), weights);
}

TEST_P(EveryType, PartsFromUnalignedBytes) {
    const auto weights = grid_weights(160, 4);
    const auto stored = stored_grid(weights, GetParam());
    std::vector<std::byte> shifted(1);
    shifted.insert(shifted.end(), stored.begin(), stored.end());
    const UntrustedFile file("t", shifted);
    const TensorEntry tensor{"t", GetParam(), {5, 32}, &file, 1, stored.size()};
    for (const std::int64_t first : {0, 32, 96, 160}) {
        for (std::int64_t count = 0; first + count <= 160; count += 32) {
            std::vector<float> out(static_cast<std::size_t>(count), -7);
            to_floats(tensor, first, out);
            EXPECT_THAT(out,
                        ElementsAreArray(weights.begin() + first, weights.begin() + first + count));
        }
    }
}

TEST_P(EveryType, BeyondTheEndIsRefused) {
    const auto bytes = stored_grid(grid_weights(64, 5), GetParam());
    EXPECT_THROW(floats(GetParam(), bytes, 64, 64, 32), std::out_of_range);
    EXPECT_THROW(floats(GetParam(), bytes, 64, 0, 96), std::out_of_range);
    EXPECT_THROW(floats(GetParam(), bytes, 64, -32, 32), std::out_of_range);
    EXPECT_THROW(floats(GetParam(), bytes, 64, INT64_MAX, 32), std::out_of_range);
}

// More elements than are converted at once.
TEST_P(EveryType, ManyElements) {
    const auto weights = grid_weights(std::size_t{32} * 5000, 8);
    const auto bytes = stored_grid(weights, GetParam());
    const auto count = static_cast<std::int64_t>(weights.size());
    EXPECT_EQ(floats(GetParam(), bytes, count, 0, count), weights);
    EXPECT_EQ(floats(GetParam(), bytes, count, 32, count - 64),
              std::vector(weights.begin() + 32, weights.end() - 32));
}

INSTANTIATE_TEST_SUITE_P(ToFloats, EveryType,
                         testing::Values(TensorType::f32, TensorType::f16, TensorType::bf16,
                                         TensorType::q8_0, TensorType::q4_0, TensorType::q4_1),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(ToFloats, PartOfABlockIsRefused) {
    const auto bytes = stored_grid(grid_weights(64, 6), TensorType::q4_1);
    EXPECT_THROW(floats(TensorType::q4_1, bytes, 64, 16, 32), std::invalid_argument);
    EXPECT_THROW(floats(TensorType::q4_1, bytes, 64, 0, 31), std::invalid_argument);
}

// By the definition of IEEE 754 binary16.
double float16_by_definition(unsigned bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31),
              fraction = static_cast<int>(bits & 1023);
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

// Any scale, offset and bytes, against the formats' definitions.
TEST(ToFloats, AnyBlock) {
    std::mt19937_64 random(6);
    for (const TensorType type : {TensorType::q8_0, TensorType::q4_0, TensorType::q4_1})
        for (int round = 0; round < 1000; ++round) {
            const unsigned scale = random() & 0xfbff, offset = random() & 0xfbff;  // finite ones
            ByteString stored;
            stored.number(static_cast<std::uint16_t>(scale));
            if (type == TensorType::q4_1) stored.number(static_cast<std::uint16_t>(offset));
            std::vector<float> expected(32);
            for (std::size_t i = 0; i < (type == TensorType::q8_0 ? 32 : 16); ++i) {
                const auto byte = static_cast<std::uint8_t>(random());
                stored.number(byte);
                const double step = float16_by_definition(scale);
                const double from = type == TensorType::q4_1 ? float16_by_definition(offset) : 0;
                const int less = type == TensorType::q4_0 ? 8 : 0;
                if (type == TensorType::q8_0) {
                    expected[i] = static_cast<float>(step * static_cast<std::int8_t>(byte));
                    continue;
                }
                expected[i] = static_cast<float>(step * ((byte & 15) - less) + from);
                expected[i + 16] = static_cast<float>(step * ((byte >> 4) - less) + from);
            }
            ASSERT_EQ(floats(type, stored.bytes, 32, 0, 32), expected)
                << to_string(type) << ", scale " << std::hex << scale;
        }
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
