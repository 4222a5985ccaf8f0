// The sparse FFN of every back end against double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/reference/back_ends.hpp"
#include "kernels/reference/random_problem.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels {
namespace {

using reference::Bounded;
using reference::FfnProblem;
using reference::FfnShape;
using reference::plain_types;

constexpr double sparsities[] = {0, 0.25, 0.5, 0.75, 0.9, 1};
constexpr AssayActivation activations[] = {ASSAY_SWIGLU, ASSAY_GELU, ASSAY_RELU};

class SparseFfn : public reference::EachBackEnd {
  protected:
    void expect_agreement(const FfnShape& shape, std::uint64_t seed) {
        FfnProblem problem(shape, seed);
        const AssaySparseFfn call = problem.call();
        ASSERT_EQ(kernels->sparse_ffn(context.get(), &call), ASSAY_OK)
            << kernels->last_error(context.get());
        const std::vector<Bounded> expected = reference::sparse_ffn(call);
        for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(problem.y[i], expected[i].value, expected[i].error)
                << "type " << shape.type << ", activation " << shape.activation << ", width "
                << shape.width << ", " << shape.experts << " experts of " << shape.expert_size
                << ", batch " << shape.batch << ", sparsity " << shape.sparsity << ", at " << i;
        EXPECT_TRUE(problem.y.guards_stand());
        EXPECT_TRUE(problem.workspace.guards_stand());
    }
};
INSTANTIATE_TEST_SUITE_P(Cpu, SparseFfn, reference::every_back_end, reference::back_end_name);

TEST_P(SparseFfn, AgreesWithDoublePrecisionForRandomShapesAndMasks) {
    std::mt19937_64 random(3);
    for (const AssayType type : plain_types)
        for (const AssayActivation activation : activations)
            for (const double sparsity : sparsities)
                for (int round = 0; round < 3; ++round) {
                    FfnShape shape{type, activation};
                    shape.width = 1 + static_cast<int>(random() % 140);
                    shape.experts = 1 + static_cast<int>(random() % 20);
                    shape.expert_size = 1 + static_cast<int>(random() % 40);
                    shape.batch = 1 + static_cast<int>(random() % 16);
                    shape.sparsity = sparsity;
                    shape.masked = random() % 3 != 0;
                    shape.biases = random() % 2 != 0;
                    expect_agreement(shape, random());
                }
}

TEST_P(SparseFfn, AgreesForWidthsOfSeveralSlabs) {
    FfnShape shape{ASSAY_BF16, ASSAY_SWIGLU, 4133, 11, 5, 3, 0.5};
    expect_agreement(shape, 1);
    shape.width = 2048;
    shape.batch = 1;
    expect_agreement(shape, 2);
}

TEST_P(SparseFfn, GivesOnlyTheBiasWhenNothingIsActive) {
    FfnProblem problem({ASSAY_BF16, ASSAY_SWIGLU, 100, 6, 32, 2, 1.0}, 9);
    AssaySparseFfn call = problem.call();
    ASSERT_EQ(problem.active_count, 0);
    ASSERT_EQ(kernels->sparse_ffn(context.get(), &call), ASSAY_OK);
    for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(problem.y[i], problem.down_bias[i % 100]);
    call.ffn.down_bias = nullptr;
    ASSERT_EQ(kernels->sparse_ffn(context.get(), &call), ASSAY_OK);
    for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(problem.y[i], 0.0f);
}

TEST_P(SparseFfn, DoesNotUseInactiveExpertsWeights) {
    FfnProblem problem({ASSAY_F32, ASSAY_SWIGLU, 50, 12, 8, 4, 0.75}, 21);
    AssaySparseFfn call = problem.call();
    ASSERT_EQ(kernels->sparse_ffn(context.get(), &call), ASSAY_OK);
    const std::vector<float> before(problem.y.data(), problem.y.data() + problem.y.size());
    const auto poison = [&](std::size_t expert) {
        const std::size_t from = problem.row_offset(expert * 8),
                          to = problem.row_offset(expert * 8 + 8);
        for (auto* weights : {&problem.gate, &problem.up, &problem.down})
            std::memset(weights->data() + from, 0xff, to - from);  // NaN
    };
    std::size_t poisoned = 0;
    for (std::size_t expert = 0; expert < 12; ++expert)
        if (std::find(problem.active.begin(), problem.active.begin() + problem.active_count,
                      static_cast<std::int32_t>(expert)) ==
            problem.active.begin() + problem.active_count) {
            poison(expert);
            ++poisoned;
        }
    ASSERT_GT(poisoned, 0u);
    problem.y.poison();
    problem.workspace.poison();
    ASSERT_EQ(kernels->sparse_ffn(context.get(), &call), ASSAY_OK);
    EXPECT_EQ(std::memcmp(before.data(), problem.y.data(), before.size() * sizeof(float)), 0);

    // An expert that one token uses must not reach another that does not.
    const auto expert = static_cast<std::size_t>(problem.active[0]);
    poison(expert);
    ASSERT_EQ(kernels->sparse_ffn(context.get(), &call), ASSAY_OK);
    for (std::size_t token = 0; token < 4; ++token)
        for (std::size_t c = 0; c < 50; ++c)
            EXPECT_EQ(std::isnan(problem.y[token * 50 + c]),
                      problem.mask[token * 12 + expert] != 0);
}

TEST_P(SparseFfn, IsTheSameBitForBitOnAnyNumberOfThreads) {
    for (const AssayType type : plain_types) {
        FfnProblem problem({type, ASSAY_SWIGLU, 2500, 24, 7, 5, 0.5}, 17);
        const AssaySparseFfn call = problem.call();
        std::vector<float> first;
        for (int threads = 1; threads <= 8; ++threads) {
            const reference::Context other = reference::make_context(kernels, threads);
            for (int repetition = 0; repetition < 3; ++repetition) {
                problem.y.poison();
                problem.workspace.poison();
                ASSERT_EQ(kernels->sparse_ffn(other.get(), &call), ASSAY_OK);
                const std::vector<float> y(problem.y.data(), problem.y.data() + problem.y.size());
                if (first.empty()) first = y;
                ASSERT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)), 0)
                    << "type " << type << ", " << threads << " threads";
            }
        }
    }
}

TEST_P(SparseFfn, LetsNaNInATokenReachOnlyThatToken) {
    for (const AssayActivation activation : activations) {
        FfnProblem problem({ASSAY_BF16, activation, 70, 5, 32, 3, 0.0}, 2);
        problem.x[70 + 69] = std::numeric_limits<float>::quiet_NaN();
        const AssaySparseFfn call = problem.call();
        ASSERT_EQ(kernels->sparse_ffn(context.get(), &call), ASSAY_OK);
        for (std::size_t i = 0; i < 210; ++i) EXPECT_EQ(std::isnan(problem.y[i]), i / 70 == 1) << i;
    }
}

TEST_P(SparseFfn, RefusesBadArgumentsAndSaysWhy) {
    FfnProblem problem({ASSAY_F32, ASSAY_SWIGLU, 40, 4, 8, 2, 0.0}, 1);
    const AssaySparseFfn good = problem.call();
    const auto status_with = [&](auto change) {
        AssaySparseFfn call = good;
        change(call);
        const AssayStatus status = kernels->sparse_ffn(context.get(), &call);
        EXPECT_STRNE(kernels->last_error(context.get()), "");
        return status;
    };
    using Call = AssaySparseFfn;
    EXPECT_EQ(status_with([](Call& c) { c.ffn.width = 0; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.ffn.expert_size = -1; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.ffn.experts = 1 << 30; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.ffn.type = ASSAY_Q8_0; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with([](Call& c) { c.ffn.activation = static_cast<AssayActivation>(9); }),
              ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with([](Call& c) { c.ffn.gate = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.ffn.activation = ASSAY_RELU; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.ffn.down = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.active = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.batch = 17; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with([](Call& c) { c.batch = -1; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.workspace_bytes -= 1; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.workspace = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with([](Call& c) { c.workspace = static_cast<char*>(c.workspace) + 4; }),
              ASSAY_BAD_ARGUMENT);
    problem.active[1] = 0;  // twice
    EXPECT_EQ(status_with([](Call&) {}), ASSAY_BAD_ARGUMENT);
    problem.active[1] = 4;  // beyond the last
    EXPECT_EQ(status_with([](Call&) {}), ASSAY_BAD_ARGUMENT);
    problem.active[1] = 1;
    problem.active_count = 5;
    EXPECT_EQ(status_with([](Call&) {}), ASSAY_BAD_ARGUMENT);
    EXPECT_TRUE(std::isnan(problem.y[0]));
    EXPECT_EQ(kernels->sparse_ffn_workspace(nullptr, 1), 0u);
    EXPECT_EQ(kernels->sparse_ffn_workspace(&good.ffn, 0), 0u);
}

}  // namespace
}  // namespace assay::kernels
