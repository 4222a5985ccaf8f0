#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"
#include "tests/nn_files/grid_weights.hpp"

namespace assay::nn {
namespace {

using testing::ElementsAreArray;

std::vector<float> floats(TensorType type, const std::vector<std::byte>& bytes,
                          std::int64_t elements, std::int64_t first, std::int64_t count) {
    const TensorEntry tensor{"t", type, {elements}, bytes};
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
    const TensorEntry tensor{"t", GetParam(), {5, 32}, std::span(shifted).subspan(1)};
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

INSTANTIATE_TEST_SUITE_P(ToFloats, EveryType,
                         testing::Values(TensorType::f32, TensorType::f16, TensorType::bf16,
                                         TensorType::q8_0, TensorType::q4_0, TensorType::q4_1),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(ToFloats, PartOfABlockIsRefused) {
    const auto bytes = stored_grid(grid_weights(64, 6), TensorType::q4_1);
    EXPECT_THROW(floats(TensorType::q4_1, bytes, 64, 16, 32), std::invalid_argument);
    EXPECT_THROW(floats(TensorType::q4_1, bytes, 64, 0, 31), std::invalid_argument);
}

}  // namespace
}  // namespace assay::nn
