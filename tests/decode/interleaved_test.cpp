// Interleaved rows: nothing is lost in rearranging, and products are as exact as in fp32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/cpu/loops.hpp"
#include "impls/decode/cpu/products.hpp"
#include "impls/decode/cpu/tile_bodies.hpp"
#include "impls/decode/weights/interleaved.hpp"
#include "impls/decode/weights/weights.hpp"
#include "kernels/cpu/element_types.hpp"

namespace assay::decode {
namespace {

constexpr AssayType quantised[] = {ASSAY_Q8_0, ASSAY_Q4_0, ASSAY_Q4_1};
constexpr AssayType floats[] = {ASSAY_F32, ASSAY_F16, ASSAY_BF16};

struct Matrix {
    Matrix(AssayType type, int rows, int columns, std::uint64_t seed)
        : type(type), rows(rows), columns(columns) {
        std::mt19937_64 random(seed);
        plain.resize(static_cast<std::size_t>(rows) * kernels::row_bytes(type, columns));
        for (std::byte& byte : plain) byte = static_cast<std::byte>(random());
        const auto unit = static_cast<std::size_t>(kernels::bytes_per_unit(type));
        // Floats: any sign, around 2^-6, halves around 1.
        for (std::size_t at = unit - 1; !kernels::is_quantised(type) && at < plain.size();
             at += unit)
            plain[at] = static_cast<std::byte>((random() & 0x80) | 0x3c);
        // Scales and minima: any sign, exponents from 2^-10 to 2^-3.
        for (std::size_t at = 0; kernels::is_quantised(type) && at < plain.size(); at += unit)
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
        const std::size_t bytes = kernels::row_bytes(type, columns);
        nn::to_floats(tensor_type(type), plain.data() + static_cast<std::size_t>(index) * bytes,
                      values);
        return values;
    }

    AssayType type;
    int rows, columns;
    std::vector<std::byte> plain, interleaved;
};

TEST(InterleavedLayout, EveryRowComesBack) {
    for (const AssayType type :
         {ASSAY_F32, ASSAY_F16, ASSAY_BF16, ASSAY_Q8_0, ASSAY_Q4_0, ASSAY_Q4_1})
        for (const int rows : {1, 16, 37}) {
            const int columns = kernels::is_quantised(type) ? 160 : 159;
            const Matrix matrix(type, rows, columns, 1);
            EXPECT_EQ(matrix.interleaved.size() % (16 * kernels::row_bytes(type, columns)), 0u);
            const std::size_t bytes = kernels::row_bytes(type, columns);
            for (int row = 0; row < rows; ++row) {
                std::vector<std::byte> taken(bytes);
                take_row(type, matrix.interleaved.data(), columns, row, 0, columns, taken.data());
                EXPECT_TRUE(std::equal(taken.begin(), taken.end(),
                                       matrix.plain.begin() + row * static_cast<int>(bytes)));
                std::vector<float> values(static_cast<std::size_t>(columns));
                read_row({type, rows, columns, matrix.interleaved.data()}, row, values);
                EXPECT_EQ(values, matrix.row(row));
            }
        }
}

// By the loops of every set of instructions that this processor has.
struct Case {
    AssayType type;
    const Loops* loops;
};

class InterleavedProduct : public testing::TestWithParam<Case> {
  protected:
    static AssayType type() { return GetParam().type; }
    static Activations activations(int columns, ActivationType digits = ActivationType::exact) {
        return Activations(columns, digits, *GetParam().loops);
    }
    // [tokens][16] of the first group.
    static std::vector<float> multiply(const Matrix& matrix, Activations& x, int tokens,
                                       const Loops& loops = *GetParam().loops) {
        x.begin(tokens);
        for (int t = 0; t < tokens; ++t) x.ready(t);
        std::vector<float> y(static_cast<std::size_t>(16 * tokens), 99.0f);
        if (x.digit_type() == ActivationType::exact)
            loops.multiply_exact(matrix.type, matrix.interleaved.data(), matrix.columns, x.exact(),
                                 tokens, y.data(), 16);
        else
            loops.multiply_int8(matrix.type, matrix.interleaved.data(), matrix.columns, x.int8(),
                                tokens, y.data(), 16);
        return y;
    }
};

TEST_P(InterleavedProduct, AsExactAsFp32) {
    std::mt19937_64 random(2);
    std::normal_distribution<float> normal;
    for (const int columns : {32, 96, 576, 1536}) {
        const Matrix matrix(type(), 16, columns, 3);
        Activations x = activations(columns);
        constexpr int tokens = 19;  // more than a tile's
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
    std::mt19937_64 random(5);
    // Fewer columns and more than tiles are unpacked at a time; fewer tokens and more than a
    // tile's.
    for (const int columns : {192, 1120})
        for (const ActivationType digits : {ActivationType::exact, ActivationType::int8}) {
            const Matrix matrix(type(), 16, columns, 4);
            Activations all = activations(columns, digits), one = activations(columns, digits);
            std::vector<float> alone;
            for (int t = 0; t < largest_pass; ++t) {
                for (int c = 0; c < columns; ++c)
                    all.row(t)[c] = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
                std::copy_n(all.row(t), columns, one.row(0));
                const std::vector<float> y = multiply(matrix, one, 1);
                alone.insert(alone.end(), y.begin(), y.end());
            }
            for (const int tokens : {2, 4, 5, 7, 8, 11, 15, 16, 17, 31, 32, 40, largest_pass})
                EXPECT_TRUE(std::ranges::equal(multiply(matrix, all, tokens),
                                               std::span(alone).first(16u * tokens)))
                    << tokens << " tokens, " << columns << " columns, digits "
                    << static_cast<int>(digits);
        }
}

TEST_P(InterleavedProduct, ZeroAndExtremeActivations) {
    const Matrix matrix(type(), 16, 64, 6);
    Activations x = activations(64);
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

// Rows of floats: products and sums are rounded once, columns c, c + 4, c + 8 … one after another,
// with every set of instructions.
TEST(InterleavedFloats, AreAddedUpInOneOrder) {
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    for (const AssayType type : floats)
        for (const int columns : {1, 2, 3, 6, 13, 64, 577})
            for (const int tokens : {1, 2, 4, 7}) {
                const Matrix matrix(type, 16, columns, 8);
                Activations x(columns);
                for (int t = 0; t < tokens; ++t)
                    for (int c = 0; c < columns; ++c) x.row(t)[c] = normal(random);
                std::vector<float> expected;
                for (int t = 0; t < tokens; ++t)
                    for (int r = 0; r < 16; ++r) {
                        const std::vector<float> weights = matrix.row(r);
                        float sums[4] = {};
                        for (int c = 0; c < columns; ++c)
                            sums[c % 4] = std::fma(weights[static_cast<std::size_t>(c)],
                                                   x.row(t)[c], sums[c % 4]);
                        expected.push_back((sums[0] + sums[1]) + (sums[2] + sums[3]));
                    }
                for (const Loops* const loops : all_loops()) {
                    std::vector<float> y(expected.size(), 99.0f);
                    loops->multiply_floats(type, matrix.interleaved.data(), columns, x.rows(),
                                           tokens, y.data(), 16);
                    EXPECT_EQ(y, expected) << loops->name << " type " << type << ", " << columns
                                           << " columns, " << tokens << " tokens";
                }
            }
}

// 1.000244…² lies half-way between two floats: what is added decides, however small.
TEST(InterleavedFloats, ProductAndSumAreRoundedOnce) {
    constexpr int columns = 8;
    constexpr float factor = 1.0f + 0x1p-12f, infinite = std::numeric_limits<float>::infinity();
    const std::vector<float> added{
        0.0f,  0x1p-60f, -0x1p-60f, 0x1p-149f, -0x1p-149f, 0x1p-30f,  -0x1p-24f, 0x1.8p-23f,
        -1.0f, -2.0f,    0x1p100f,  -0x1p100f, infinite,   -infinite, 0x1p-24f,  -factor};
    std::vector<float> plain(16 * columns);
    for (std::size_t r = 0; r < added.size(); ++r) {
        plain[r * columns] = added[r];
        plain[r * columns + 4] = factor;
    }
    std::vector<std::byte> group(interleaved_bytes(ASSAY_F32, 16, columns));
    interleave(ASSAY_F32, std::as_bytes(std::span(plain)).data(), 16, columns, group.data());
    const float x[columns] = {1, 0, 0, 0, factor};
    const float* const rows = x;
    for (const Loops* const loops : all_loops()) {
        std::vector<float> y(16);
        loops->multiply_floats(ASSAY_F32, group.data(), columns, &rows, 1, y.data(), 16);
        for (std::size_t r = 0; r < added.size(); ++r)
            EXPECT_EQ(y[r], std::fma(factor, factor, added[r])) << loops->name << " " << added[r];
    }
}

// One digit: every activation is off by at most half a 127th of its block's largest.
TEST_P(InterleavedProduct, Int8IsWithinItsRounding) {
    std::mt19937_64 random(8);
    std::normal_distribution<float> normal;
    const Matrix matrix(type(), 16, 96, 9);
    Activations x = activations(96, ActivationType::int8);
    for (int c = 0; c < 96; ++c) x.row(0)[c] = normal(random);
    const std::vector<float> y = multiply(matrix, x, 1);
    for (int r = 0; r < 16; ++r) {
        const std::vector<float> weights = matrix.row(r);
        double exact = 0, most_off = 0;
        for (std::size_t c = 0; c < 96; ++c) {
            exact += static_cast<double>(weights[c]) * static_cast<double>(x.row(0)[c]);
            const float* const block = x.row(0) + c / 32 * 32;
            float largest = 0;
            for (int i = 0; i < 32; ++i) largest = std::max(largest, std::abs(block[i]));
            // Quants without their minimum, which meets the exact sum, are up to 1.9 times a
            // weight.
            most_off += 2 * 0.51 / 127 * static_cast<double>(largest * std::abs(weights[c])) + 1e-3;
        }
        EXPECT_NEAR(y[static_cast<std::size_t>(r)], exact, most_off);
    }
}

TEST_P(InterleavedProduct, EverySetOfInstructionsGivesTheSameBits) {
    std::mt19937_64 random(11);
    std::normal_distribution<float> normal;
    const Loops& plain = *all_loops().front();
    for (const int columns : {192, 1120}) {
        const Matrix matrix(type(), 16, columns, 10);
        for (const ActivationType digits : {ActivationType::exact, ActivationType::int8})
            for (const int tokens : {1, 2, 3, 4, 5, 8, 11, 16, 17, 63}) {
                Activations own = activations(columns, digits);
                Activations portable(columns, digits, plain);
                for (int t = 0; t < tokens; ++t)
                    for (int c = 0; c < columns; ++c)
                        own.row(t)[c] = portable.row(t)[c] =
                            normal(random) * std::ldexp(1.0f, t % 40);
                EXPECT_EQ(multiply(matrix, own, tokens), multiply(matrix, portable, tokens, plain))
                    << tokens << " tokens, " << columns << " columns";
            }
    }
}

// A tile may hold a token once more: what is no number in one stays out of the others.
TEST_P(InterleavedProduct, ATokenThatIsNoNumberSpoilsNoOther) {
    constexpr int tokens = 17, columns = 96;
    const Matrix matrix(type(), 16, columns, 13);
    for (const ActivationType digits : {ActivationType::exact, ActivationType::int8}) {
        Activations x = activations(columns, digits);
        for (int t = 0; t < tokens; ++t)
            for (int c = 0; c < columns; ++c) x.row(t)[c] = static_cast<float>(c % 7 - t);
        const std::vector<float> expected = multiply(matrix, x, tokens);
        x.row(1)[40] = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> y = multiply(matrix, x, tokens);
        for (std::size_t i = 0; i < y.size(); ++i)
            if (i / 16 == 1)
                EXPECT_TRUE(std::isnan(y[i]));
            else
                EXPECT_EQ(y[i], expected[i]) << "token " << i / 16;
    }
}

// Bit by bit: what the processor has, and what the operating system saves.
TEST(Tiles, AreUsedWhereAllIsThereAlone) {
    constexpr std::uint32_t tile = 1u << 24, int8 = 1u << 25;
    constexpr std::uint64_t shapes = 1u << 17, data = 1u << 18;
    EXPECT_TRUE(has_int8_tiles({tile | int8, shapes | data}));
    EXPECT_TRUE(has_int8_tiles({~0u, ~std::uint64_t{0}}));
    for (const std::uint32_t lacks : {tile, int8})
        EXPECT_FALSE(has_int8_tiles({~lacks, ~std::uint64_t{0}}));
    for (const std::uint64_t lacks : {shapes, data}) EXPECT_FALSE(has_int8_tiles({~0u, ~lacks}));
    EXPECT_FALSE(has_int8_tiles({}));
}

// TDPBSUD by its definition: signed bytes of a row times unsigned ones of four columns.
TEST(Tiles, EmulatedDotProducts) {
    TileConfig config;
    config.rows[0] = 2, config.row_bytes[0] = 8;  // 2 × 2 sums
    config.rows[1] = 2, config.row_bytes[1] = 8;  // 2 × 8 bytes
    config.rows[2] = 2, config.row_bytes[2] = 8;  // of 8 × 2, four to a lane
    EmulatedTiles::load_config(config);
    const std::int8_t a[2][10] = {{-128, 127, 0, 1, 2, 3, 4, 5, 99, 99},
                                  {1, 1, 1, 1, -1, -1, -1, -1, 99, 99}};
    const std::uint8_t b[2][8] = {{255, 255, 0, 0, 1, 2, 3, 4}, {10, 20, 30, 40, 0, 0, 0, 200}};
    std::int32_t sums[2][2] = {{1000, 0}, {0, -7}};
    EmulatedTiles::load<0>(sums, sizeof sums[0]);
    EmulatedTiles::load<1>(a, sizeof a[0]);
    EmulatedTiles::load<2>(b, sizeof b[0]);
    EmulatedTiles::dot<0, 1, 2>();
    EmulatedTiles::store<0>(sums, sizeof sums[0]);
    EXPECT_EQ(sums[0][0], 1000 + (-128 + 127) * 255 + 20 + 60 + 120 + 200);
    EXPECT_EQ(sums[0][1], -128 + 2 * 127 + 4 + 1000);
    EXPECT_EQ(sums[1][0], 510 - 100);
    EXPECT_EQ(sums[1][1], -7 + 10 - 200);
}

// A thread keeps its shapes from product to product, and must not trust that.
TEST(Tiles, ShapesThatSomebodyElseLoadedAreReplaced) {
    constexpr int columns = 64, tokens = 16;
    const Matrix matrix(ASSAY_Q4_1, 16, columns, 15);
    const Loops& loops = loops_with_emulated_tiles();
    Activations x(columns, ActivationType::int8, loops);
    x.begin(tokens);
    for (int t = 0; t < tokens; ++t) {
        for (int c = 0; c < columns; ++c) x.row(t)[c] = static_cast<float>((c + t) % 9 - 4);
        x.ready(t);
    }
    const auto product = [&] {
        std::vector<float> y(16 * tokens);
        loops.multiply_int8(matrix.type, matrix.interleaved.data(), columns, x.int8(), tokens,
                            y.data(), 16);
        return y;
    };
    const std::vector<float> expected = product();
    TileConfig other;
    other.rows[0] = other.rows[1] = 3;
    other.row_bytes[0] = other.row_bytes[1] = 12;
    EmulatedTiles::load_config(other);
    EXPECT_EQ(product(), expected);
    EXPECT_EQ(product(), expected);
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Loops* const loops : all_loops())
        for (const AssayType type : quantised) all.push_back({type, loops});
    for (const AssayType type : quantised) all.push_back({type, &loops_with_emulated_tiles()});
    return all;
}

INSTANTIATE_TEST_SUITE_P(TypesAndLoops, InterleavedProduct, testing::ValuesIn(cases()),
                         [](const auto& test) {
                             std::string name = test.param.loops->name;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name + "_" + std::to_string(test.param.type);
                         });

}  // namespace
}  // namespace assay::decode
