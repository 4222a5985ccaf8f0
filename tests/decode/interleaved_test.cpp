// Interleaved rows: nothing is lost in rearranging, and products are as exact as in fp32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "impls/decode/interleaved/interleaved.hpp"
#include "impls/decode/products.hpp"
#include "impls/decode/weights.hpp"
#include "kernels/cpu/element_types.hpp"

namespace assay::decode {
namespace {

constexpr AssayType quantised[] = {ASSAY_Q8_0, ASSAY_Q4_0, ASSAY_Q4_1};

struct Matrix {
    Matrix(AssayType type, int rows, int columns, std::uint64_t seed)
        : type(type), rows(rows), columns(columns) {
        std::mt19937_64 random(seed);
        plain.resize(static_cast<std::size_t>(rows) * kernels::row_bytes(type, columns));
        for (std::byte& byte : plain) byte = static_cast<std::byte>(random());
        // Scales and minima: any sign, exponents from 2^-10 to 2^-3.
        const auto unit = static_cast<std::size_t>(kernels::bytes_per_unit(type));
        for (std::size_t at = 0; at < plain.size(); at += unit)
            for (std::size_t half = 0; half < (type == ASSAY_Q4_1 ? 2u : 1u); ++half) {
                const std::uint64_t bits = random();
                plain[at + 2 * half + 1] =
                    static_cast<std::byte>((bits & 0x83) | ((5 + bits / 256 % 8) << 2));
            }
        interleaved.resize(interleaved_bytes(type, rows, columns));
        interleave(type, plain.data(), rows, columns, interleaved.data());
    }
    std::vector<float> row(int index) const {
        std::vector<float> values(static_cast<std::size_t>(columns));
        read_row({type, rows, columns, plain.data()}, index, values);
        return values;
    }

    AssayType type;
    int rows, columns;
    std::vector<std::byte> plain, interleaved;
};

TEST(InterleavedLayout, EveryRowComesBack) {
    for (const AssayType type : quantised)
        for (const int rows : {1, 16, 37}) {
            const Matrix matrix(type, rows, 96, 1);
            EXPECT_EQ(matrix.interleaved.size() % (16 * kernels::row_bytes(type, 96)), 0u);
            const std::size_t bytes = kernels::row_bytes(type, 96);
            for (int row = 0; row < rows; ++row) {
                std::vector<std::byte> taken(bytes);
                take_row(type, matrix.interleaved.data(), 96, row, taken.data());
                EXPECT_TRUE(std::equal(taken.begin(), taken.end(),
                                       matrix.plain.begin() + row * static_cast<int>(bytes)));
                std::vector<float> values(96);
                read_row({type, rows, 96, matrix.interleaved.data(), nullptr, true}, row, values);
                EXPECT_EQ(values, matrix.row(row));
            }
        }
}

class InterleavedProduct : public testing::TestWithParam<AssayType> {
  protected:
    void SetUp() override {
        if (!interleaved_products()) GTEST_SKIP() << "this processor has no int8 dot products";
    }

    // [tokens][16] of the first group.
    static std::vector<float> multiply(const Matrix& matrix, Activations& x, int tokens) {
        x.ready(tokens);
        std::vector<float> y(static_cast<std::size_t>(16 * tokens), 99.0f);
        interleaved_products()->multiply(matrix.type, matrix.interleaved.data(), matrix.columns,
                                         x.digits(), tokens, y.data(), 16);
        return y;
    }
};

TEST_P(InterleavedProduct, AsExactAsFp32) {
    std::mt19937_64 random(2);
    std::normal_distribution<float> normal;
    for (const int columns : {32, 96, 576, 1536}) {
        const Matrix matrix(GetParam(), 16, columns, 3);
        Activations x(columns, true);
        constexpr int tokens = 7;
        // Blocks of very different size, as real activations have.
        for (int t = 0; t < tokens; ++t)
            for (int c = 0; c < columns; ++c)
                x.row(t)[c] = normal(random) * std::ldexp(1.0f, (c / 32 * 5 + t) % 17 - 8);
        const std::vector<float> y = multiply(matrix, x, tokens);
        for (int r = 0; r < 16; ++r) {
            const std::vector<float> weights = matrix.row(r);
            for (int t = 0; t < tokens; ++t) {
                double exact = 0, magnitude = 0;
                for (int c = 0; c < columns; ++c) {
                    const double product =
                        static_cast<double>(weights[static_cast<std::size_t>(c)]) *
                        static_cast<double>(x.row(t)[c]);
                    exact += product;
                    magnitude += std::abs(product);
                }
                // Rounding of fp32 sums is of this size; 16-bit activations would miss it by far.
                EXPECT_NEAR(y[static_cast<std::size_t>(t * 16 + r)], exact, 2e-6 * magnitude)
                    << columns << " row " << r << " token " << t;
            }
        }
    }
}

TEST_P(InterleavedProduct, ATokensResultDoesNotDependOnTheOthers) {
    const Matrix matrix(GetParam(), 16, 192, 4);
    std::mt19937_64 random(5);
    Activations all(192, true), one(192, true);
    for (int t = 0; t < largest_batch; ++t)
        for (int c = 0; c < 192; ++c)
            all.row(t)[c] = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
    const std::vector<float> together = multiply(matrix, all, largest_batch);
    for (int t = 0; t < largest_batch; ++t) {
        std::copy_n(all.row(t), 192, one.row(0));
        EXPECT_TRUE(std::equal(together.begin() + 16 * t, together.begin() + 16 * (t + 1),
                               multiply(matrix, one, 1).begin()));
    }
}

TEST_P(InterleavedProduct, ZeroAndExtremeActivations) {
    const Matrix matrix(GetParam(), 16, 64, 6);
    Activations x(64, true);
    for (const float value : multiply(matrix, x, 1)) EXPECT_EQ(value, 0.0f);

    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinite = std::numeric_limits<float>::infinity();
    for (const float bad : {nan, infinite, -infinite}) {
        x.row(0)[40] = bad;
        for (const float value : multiply(matrix, x, 1)) EXPECT_FALSE(std::isfinite(value));
    }
    for (const float tiny : {1e-38f, 1e-44f, -1e-44f}) {  // down to subnormal numbers
        x.row(0)[40] = tiny;
        for (const float value : multiply(matrix, x, 1)) EXPECT_LT(std::abs(value), 1e-36f);
    }
    // The largest digits of both signs.
    for (const float sign : {1.0f, -1.0f}) {
        for (int c = 0; c < 64; ++c) x.row(0)[c] = sign * 3.0f;
        const std::vector<float> y = multiply(matrix, x, 1);
        for (int r = 0; r < 16; ++r) {
            double exact = 0, magnitude = 0;
            for (const float weight : matrix.row(r)) {
                exact += static_cast<double>(weight * sign) * 3;
                magnitude += std::abs(static_cast<double>(weight)) * 3;
            }
            EXPECT_NEAR(y[static_cast<std::size_t>(r)], exact, 1e-6 * magnitude);
        }
    }
}

TEST(InterleavedBf16, AsExactAsFp32) {
    if (!interleaved_products()) GTEST_SKIP() << "this processor has no such loops";
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    for (const int columns : {2, 6, 64, 578})
        for (const int tokens : {1, 4, 7}) {
            std::vector<std::uint16_t> plain(static_cast<std::size_t>(16 * columns));
            for (std::uint16_t& weight : plain) weight = nn::to_bfloat16(normal(random));
            std::vector<std::byte> group(interleaved_bytes(ASSAY_BF16, 16, columns));
            ASSERT_EQ(group.size(), plain.size() * 2);
            interleave(ASSAY_BF16, reinterpret_cast<const std::byte*>(plain.data()), 16, columns,
                       group.data());
            std::vector<std::byte> row(static_cast<std::size_t>(columns) * 2);
            take_row(ASSAY_BF16, group.data(), columns, 5, row.data());
            EXPECT_EQ(std::memcmp(row.data(), plain.data() + 5 * columns, row.size()), 0);

            Activations x(columns, false);
            for (int t = 0; t < tokens; ++t)
                for (int c = 0; c < columns; ++c) x.row(t)[c] = normal(random);
            std::vector<float> y(static_cast<std::size_t>(16 * tokens), 99.0f);
            interleaved_products()->multiply_bf16(group.data(), columns, x.rows(), tokens, y.data(),
                                                  16);
            for (int t = 0; t < tokens; ++t)
                for (int r = 0; r < 16; ++r) {
                    double exact = 0, magnitude = 0;
                    for (int c = 0; c < columns; ++c) {
                        const double product =
                            static_cast<double>(nn::from_bfloat16(
                                plain[static_cast<std::size_t>(r * columns + c)])) *
                            static_cast<double>(x.row(t)[c]);
                        exact += product;
                        magnitude += std::abs(product);
                    }
                    EXPECT_NEAR(y[static_cast<std::size_t>(16 * t + r)], exact, 2e-6 * magnitude);
                }
        }
}

INSTANTIATE_TEST_SUITE_P(Types, InterleavedProduct, testing::ValuesIn(quantised));

}  // namespace
}  // namespace assay::decode
