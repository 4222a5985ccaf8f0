// The CUDA kernels' source, run by the emulation, against double precision: every format, random
// shapes, masks, devices and orders of threads and blocks. Outputs, workspace and block memory
// start as NaN.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cuda/emulation/emulated_machine.hpp"
#include "kernels/cuda/host/check.hpp"
#include "kernels/reference/random_problem.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels::cuda {
namespace {

using reference::all_types;
using reference::Bounded;
using reference::draw;
using reference::GemvProblem;
using reference::plain_types;

bool is_q(AssayType type) { return type >= ASSAY_Q8_0; }

void expect_gemv(GemvProblem& problem, int multiprocessors, std::uint64_t seed, bool bias,
                 int most_warps_of_row = Device{}.most_warps_of_row) {
    AssayGemv call = problem.call();
    if (!bias) call.bias = nullptr;
    ASSERT_EQ(check(call).status, ASSAY_OK) << check(call).why;
    EmulatedMachine machine(multiprocessors, seed);
    machine.device().most_warps_of_row = most_warps_of_row;
    launch_gemv(machine, call);
    const std::vector<Bounded> expected = reference::gemv(call);
    for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(problem.y[i], expected[i].value, expected[i].error)
            << "type " << problem.type << ", " << problem.rows << "×" << problem.columns
            << ", batch " << problem.batch << ", at " << i;
    EXPECT_TRUE(problem.y.guards_stand());
}

TEST(EmulatedGemv, AgreesWithDoublePrecisionForRandomShapes) {
    std::mt19937_64 random(7);
    for (const AssayType type : all_types)
        for (int round = 0; round < 10; ++round) {
            const int rows = draw(random, 1, 90), batch = draw(random, 1, 16);
            // Rows of whole 16 bytes in half of the rounds, so that both ways to read are met.
            const int unit = is_q(type) ? 32 : round % 2 == 0 ? 8 : 1;
            const int columns = unit * draw(random, 1, 400 / unit);
            GemvProblem problem(type, rows, columns, batch, random());
            expect_gemv(problem, draw(random, 1, 3), random(), round % 3 != 0);
        }
}

TEST(EmulatedGemv, AgreesWhereXTakesSeveralTiles) {
    for (const AssayType type : {ASSAY_F32, ASSAY_BF16, ASSAY_Q4_0}) {
        GemvProblem wide(type, 37, 2368, 16, 5);  // three tiles of 1024, or one of 4096
        expect_gemv(wide, 1, 1, true);
    }
    GemvProblem single(ASSAY_F16, 5, 4999, 3, 5);
    expect_gemv(single, 1, 1, true);
    GemvProblem long_rows(ASSAY_BF16, 3, 16384 + 520, 1, 5);
    expect_gemv(long_rows, 1, 1, true);
}

TEST(EmulatedGemv, AgreesWhereWarpsShareRows) {
    std::mt19937_64 random(13);
    for (const AssayType type : all_types)
        for (const int rows : {1, 7, 30}) {
            const int columns = 32 * draw(random, 1, 40);
            GemvProblem problem(type, rows, columns, 1, random());
            expect_gemv(problem, 3, random(), true);
        }
    // Shares that are no multiple of four units, and every number of warps.
    for (const int warps : {1, 2, 8, 16}) {
        GemvProblem halves(ASSAY_BF16, 2, 1032, 1, 3), floats(ASSAY_F32, 1, 516, 1, 4);
        expect_gemv(halves, 2, 5, false, warps);
        expect_gemv(floats, 2, 6, false, warps);
    }
    // x is copied in several rounds, into one tile.
    for (const AssayType type : all_types) {
        GemvProblem problem(type, 3, 9216, 1, 7);
        expect_gemv(problem, 2, 8, true);
    }
}

TEST(EmulatedGemv, ReadsUnalignedRowsOneByOne) {
    for (const AssayType type : plain_types)
        for (const int columns : {1, 2, 7, 31, 32, 33, 40}) {
            GemvProblem problem(type, 3, columns, 2, 9, type == ASSAY_F32 ? 4 : 2);
            expect_gemv(problem, 1, 2, true);
        }
}

void expect_nan_of_token_1_alone(AssayType type, int columns, int batch) {
    GemvProblem problem(type, 20, columns, batch, 3);
    // One whose bits are all lower ones.
    problem.x[static_cast<std::size_t>(2 * columns - 1)] = std::bit_cast<float>(0x7f800001u);
    EmulatedMachine machine(1, 1);
    launch_gemv(machine, problem.call());
    for (std::size_t i = 0; i < problem.y.size(); ++i)
        EXPECT_EQ(std::isnan(problem.y[i]), i / 20 == 1) << i;
}

TEST(EmulatedGemv, LetsNaNThroughWhereItBelongs) {
    expect_nan_of_token_1_alone(ASSAY_F32, 5, 2);
    expect_nan_of_token_1_alone(ASSAY_F32, 64, 2);
    expect_nan_of_token_1_alone(ASSAY_BF16, 264, 11);  // on tensor cores
}

TEST(Fp32Parts, AddUpExactlyAndAreBf16) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 100000; ++round) {
        // Beyond 2^-100, so that the smallest part is a normal number, too.
        const float x = std::ldexp(reference::random_floats(1, random)[0], draw(random, -75, 127));
        std::uint32_t part[fp32_parts];
        split_fp32(x, part);
        double sum = 0;
        for (const std::uint32_t bits : part) {
            EXPECT_EQ(bits & 0xffffu, 0u);
            sum += std::bit_cast<float>(bits);
        }
        ASSERT_EQ(sum, x);
    }
    std::uint32_t part[fp32_parts];
    split_fp32(-std::numeric_limits<float>::infinity(), part);
    EXPECT_EQ(part[0], 0xff800000u);
    EXPECT_EQ(part[1] | part[2], 0u);
}

TEST(EmulatedRouter, AgreesWithDoublePrecisionAndListsTheUnionInOrder) {
    std::mt19937_64 random(19);
    int on = 0, off = 0;
    for (int round = 0; round < 36; ++round) {
        const AssayType type = plain_types[round % 3];
        const int width = round % 2 == 0 ? 8 * draw(random, 1, 24) : draw(random, 1, 200);
        // More experts than the listing block has threads in some rounds.
        const int experts = round % 9 == 0 ? draw(random, 500, 1100) : draw(random, 1, 90);
        const int batch = round % 9 == 0 ? 1 : draw(random, 1, 16);
        const float threshold = static_cast<float>(round % 5) * 1.5f - 1.0f;
        const auto weights = reference::random_weights(type, experts, width, random);
        const auto x = reference::random_floats(static_cast<std::size_t>(width * batch), random);
        std::vector<std::uint8_t> mask(static_cast<std::size_t>(experts * batch), 77);
        std::vector<std::int32_t> active(static_cast<std::size_t>(experts), -5);
        std::int32_t count = -1;
        const AssayRouter call{width, experts,  type,        weights.data(), threshold,
                               batch, x.data(), mask.data(), active.data(),  &count};
        ASSERT_EQ(check(call).status, ASSAY_OK);
        EmulatedMachine machine(draw(random, 1, 3), random());
        launch_router(machine, call);
        EXPECT_EQ(machine.launches, 1);
        EXPECT_EQ(machine.counters()[0], 0);

        std::vector<std::int32_t> expected_union;
        for (int e = 0; e < experts; ++e) {
            bool any = false;
            for (int t = 0; t < batch; ++t) {
                const Bounded logit = reference::dot(
                    type, weights.data() + static_cast<std::size_t>(e) * row_bytes(type, width),
                    x.data() + t * width, width);
                const int is_active = mask[static_cast<std::size_t>(t * experts + e)];
                ASSERT_TRUE(is_active == 0 || is_active == 1);
                any |= is_active == 1;
                if (std::abs(logit.value - threshold) > logit.error) {
                    ASSERT_EQ(is_active, logit.value > threshold) << logit.value;
                }
                ++(is_active ? on : off);
            }
            if (any) expected_union.push_back(e);
        }
        ASSERT_EQ(count, static_cast<int>(expected_union.size()));
        active.resize(static_cast<std::size_t>(count));
        EXPECT_EQ(active, expected_union);
    }
    EXPECT_GT(on, 1000);
    EXPECT_GT(off, 1000);
}

}  // namespace
}  // namespace assay::kernels::cuda
