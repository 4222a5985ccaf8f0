// GEMV of every back end against double precision: all types, odd shapes, any number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/reference/back_ends.hpp"
#include "kernels/reference/random_problem.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels {
namespace {

using reference::all_types;
using reference::Bounded;
using reference::GemvProblem;

class Gemv : public reference::EachBackEnd {};
INSTANTIATE_TEST_SUITE_P(Cpu, Gemv, reference::every_back_end, reference::back_end_name);

bool quantised(AssayType type) { return type >= ASSAY_Q8_0; }

void expect_close(const GemvProblem& problem, const std::vector<Bounded>& expected) {
    ASSERT_EQ(problem.y.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(problem.y[i], expected[i].value, expected[i].error)
            << "type " << problem.type << ", " << problem.rows << "×" << problem.columns
            << ", batch " << problem.batch << ", at " << i;
    EXPECT_TRUE(problem.y.guards_stand());
}

TEST_P(Gemv, AgreesWithDoublePrecisionForRandomShapes) {
    std::mt19937_64 random(7);
    for (const AssayType type : all_types)
        for (int round = 0; round < 25; ++round) {
            const int rows = 1 + static_cast<int>(random() % 70);
            const int columns = quantised(type) ? 32 * (1 + static_cast<int>(random() % 9))
                                                : 1 + static_cast<int>(random() % 300);
            const int batch = 1 + static_cast<int>(random() % 16);
            GemvProblem problem(type, rows, columns, batch, random(), random() % 4);
            AssayGemv call = problem.call();
            if (round % 3 == 0) call.bias = nullptr;
            ASSERT_EQ(kernels->gemv(context.get(), &call), ASSAY_OK);
            expect_close(problem, reference::gemv(call));
        }
}

TEST_P(Gemv, AgreesForEveryTailOfAVector) {
    for (const AssayType type : {ASSAY_F32, ASSAY_F16, ASSAY_BF16})
        for (int columns = 1; columns <= 130; ++columns) {
            GemvProblem problem(type, 3, columns, 1, static_cast<std::uint64_t>(columns));
            const AssayGemv call = problem.call();
            ASSERT_EQ(kernels->gemv(context.get(), &call), ASSAY_OK);
            expect_close(problem, reference::gemv(call));
        }
}

TEST_P(Gemv, IsTheSameBitForBitOnAnyNumberOfThreads) {
    for (const AssayType type : all_types) {
        GemvProblem problem(type, 900, 160, 3, 11);
        const AssayGemv call = problem.call();
        std::vector<float> first;
        for (int threads = 1; threads <= 8; ++threads) {
            const reference::Context other = reference::make_context(kernels, threads);
            problem.y.poison();
            ASSERT_EQ(kernels->gemv(other.get(), &call), ASSAY_OK);
            const std::vector<float> y(problem.y.data(), problem.y.data() + problem.y.size());
            if (threads == 1) first = y;
            EXPECT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)), 0)
                << "type " << type << ", " << threads << " threads";
        }
    }
}

TEST_P(Gemv, GivesATokenTheSameBitsInAnyBatch) {
    for (const AssayType type : all_types) {
        GemvProblem together(type, 37, 224, 16, 5);
        const AssayGemv call = together.call();
        ASSERT_EQ(kernels->gemv(context.get(), &call), ASSAY_OK);
        for (int token = 0; token < 16; ++token) {
            std::vector<float> y(37);
            AssayGemv alone = call;
            alone.batch = 1;
            alone.x = call.x + token * 224;
            alone.y = y.data();
            ASSERT_EQ(kernels->gemv(context.get(), &alone), ASSAY_OK);
            EXPECT_EQ(std::memcmp(y.data(), together.y.data() + token * 37, sizeof(float) * 37), 0)
                << "type " << type << ", token " << token;
        }
    }
}

TEST_P(Gemv, LetsNaNThroughWhereItBelongs) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const int columns : {5, 64, 100}) {
        GemvProblem problem(ASSAY_F32, 20, columns, 2, 3);
        problem.x[static_cast<std::size_t>(2 * columns - 1)] = nan;  // token 1
        AssayGemv call = problem.call();
        ASSERT_EQ(kernels->gemv(context.get(), &call), ASSAY_OK);
        for (std::size_t r = 0; r < 20; ++r) {
            EXPECT_FALSE(std::isnan(problem.y[r]));
            EXPECT_TRUE(std::isnan(problem.y[20 + r]));
        }
    }
    GemvProblem problem(ASSAY_BF16, 20, 70, 1, 3);
    const std::uint16_t bf16_nan = 0x7fc0;
    std::memcpy(problem.weights.data() + (4 * 70 + 69) * 2, &bf16_nan, 2);
    const AssayGemv call = problem.call();
    ASSERT_EQ(kernels->gemv(context.get(), &call), ASSAY_OK);
    for (std::size_t r = 0; r < 20; ++r) EXPECT_EQ(std::isnan(problem.y[r]), r == 4);
}

TEST_P(Gemv, ReadsEveryValueOfTheSixteenBitTypes) {
    // Each of the 2^16 patterns in a row of its own, times one: the value itself must come out.
    for (const AssayType type : {ASSAY_F16, ASSAY_BF16}) {
        constexpr int rows = 1 << 16, columns = 16;
        std::vector<std::uint16_t> weights(rows * columns);
        for (int r = 0; r < rows; ++r)
            weights[static_cast<std::size_t>(r * columns + r % columns)] =
                static_cast<std::uint16_t>(r);
        const std::vector<float> x(columns, 1.0f);
        std::vector<float> y(rows);
        const AssayGemv call{rows, columns, type, weights.data(), nullptr, 1, x.data(), y.data()};
        ASSERT_EQ(kernels->gemv(context.get(), &call), ASSAY_OK);
        const std::vector<Bounded> expected = reference::gemv(call);
        for (std::size_t r = 0; r < rows; ++r) {
            if (std::isnan(expected[r].value)) {
                ASSERT_TRUE(std::isnan(y[r])) << r;
            } else {
                ASSERT_EQ(y[r], expected[r].value) << r;
            }
        }
    }
}

TEST_P(Gemv, RefusesBadArgumentsAndSaysWhy) {
    GemvProblem problem(ASSAY_Q4_1, 4, 64, 1, 1);
    const AssayGemv good = problem.call();
    const auto status_with = [&](auto change) {
        AssayGemv call = good;
        change(call);
        const AssayStatus status = kernels->gemv(context.get(), &call);
        EXPECT_STRNE(kernels->last_error(context.get()), "");
        return status;
    };
    EXPECT_EQ(status_with([](AssayGemv& c) { c.columns = 48; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayGemv& c) { c.rows = 0; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayGemv& c) { c.columns = -32; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayGemv& c) { c.weights = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayGemv& c) { c.x = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayGemv& c) { c.y = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayGemv& c) { c.batch = 0; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](AssayGemv& c) { c.batch = 17; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with([](AssayGemv& c) { c.type = static_cast<AssayType>(6); }),
              ASSAY_UNSUPPORTED);
    EXPECT_EQ(kernels->gemv(context.get(), nullptr), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(kernels->gemv(nullptr, &good), ASSAY_BAD_ARGUMENT);
    EXPECT_TRUE(std::isnan(problem.y[0]));  // nothing was written
    EXPECT_EQ(kernels->gemv(context.get(), &good), ASSAY_OK);
}

}  // namespace
}  // namespace assay::kernels
