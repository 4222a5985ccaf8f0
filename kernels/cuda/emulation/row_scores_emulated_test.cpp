// The source of scores and gradients of rows, run by the emulation, against double precision.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/cuda/device/row_scores_launches.hpp"
#include "kernels/cuda/emulation/emulated_machine.hpp"
#include "kernels/reference/row_scores_problem.hpp"

namespace assay::kernels::cuda {
namespace {

using reference::RowScoresProblem;

void score(RowScoresProblem& problem, AssayRowScores call, bool warpgroups = false) {
    problem.give_workspace(call, row_scores_layout(call).bytes);
    EmulatedMachine machine(4, static_cast<std::uint64_t>(call.out + call.tokens));
    machine.device().warpgroups = warpgroups;
    launch_row_scores(machine, call);
}

void differentiate(RowScoresProblem& problem, bool warpgroups = false) {
    EmulatedMachine machine(4, static_cast<std::uint64_t>(problem.in));
    machine.device().warpgroups = warpgroups;
    launch_weight_gradient(machine, problem.gradient_call());
}

TEST(EmulatedRowScores, AgreeForRandomShapes) {
    reference::expect_row_scores(
        [](RowScoresProblem& problem, AssayRowScores call) { score(problem, call); },
        [](RowScoresProblem& problem) { differentiate(problem); }, 12, 24);
}

// More than a tile each way.
TEST(EmulatedRowScores, AgreeAcrossTiles) {
    RowScoresProblem problem(ASSAY_BF16, 70, 66, 65, 2, 2, 3);
    problem.a = 3;
    for (const AssayScoring scoring : {ASSAY_PIP, ASSAY_GIP, ASSAY_COMPRESSED}) {
        score(problem, problem.call(scoring));
        problem.expect_scores(scoring);
    }
    differentiate(problem);
    problem.expect_gradient();
}

// bf16 by whole pieces of 16 bytes: on the tensor cores, by warps or by warpgroups.
class EmulatedTiles : public testing::TestWithParam<bool> {
  protected:
    void score(RowScoresProblem& problem, AssayRowScores call) {
        cuda::score(problem, call, GetParam());
    }
    void differentiate(RowScoresProblem& problem) { cuda::differentiate(problem, GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(OfWarpsAndWarpgroups, EmulatedTiles, testing::Bool(),
                         [](const auto& of) { return of.param ? "Warpgroups" : "Warps"; });

TEST_P(EmulatedTiles, Agree) {
    reference::expect_row_scores(
        [&](RowScoresProblem& problem, AssayRowScores call) { score(problem, call); },
        [&](RowScoresProblem& problem) { differentiate(problem); }, 6, 40, 8);
    // More than a tile each way, tokens that end within a step; more bands of tiles than one.
    for (const auto& [out, in, tokens, rows] :
         {std::array{136, 144, 70, 2}, {24, 264, 130, 1}, {16, 8, 3, 20}}) {
        RowScoresProblem problem(ASSAY_BF16, out, in, tokens, rows, 2, 3);
        problem.weights.assign(problem.weights.size(), 0.5F);
        for (const AssayScoring scoring : {ASSAY_PIP, ASSAY_GIP, ASSAY_COMPRESSED}) {
            ASSERT_TRUE(scores_by_tiles({}, problem.call(scoring)));
            score(problem, problem.call(scoring));
            problem.expect_scores(scoring);
        }
        ASSERT_TRUE(gradient_by_tiles({}, problem.gradient_call()));
        differentiate(problem);
        problem.expect_gradient();
    }
}

// Rows of other weights, near and far from each other, none at all.
TEST_P(EmulatedTiles, WeighRows) {
    RowScoresProblem problem(ASSAY_BF16, 16, 24, 33, 5, 1, 3);
    for (const std::vector<float>& weights :
         std::vector<std::vector<float>>{{0.25F, -0.5F, 0, 3, 1},
                                         {1e25F, 0, 1e-25F, 1, -1e20F},
                                         {1e-30F, 1e-30F, 0, 1, 1},
                                         {1, 1e-5F, 1e-10F, 1e-15F, 1e-20F},  // each step is near
                                         {1e20F, 1e15F, 1e10F, 1e5F, 1e-20F},
                                         {0, 0, 0, 0, 0}}) {
        problem.weights = weights;
        differentiate(problem);
        problem.expect_gradient();
    }
}

TEST(EmulatedRowScores, AreNoTilesWhereTheyCannotBe) {
    RowScoresProblem problem(ASSAY_BF16, 16, 24, 3, 2, 1, 3);
    AssayRowScores call = problem.call(ASSAY_PIP);
    EXPECT_TRUE(scores_by_tiles({}, call));
    EXPECT_FALSE(scores_by_tiles({.tensor_cores = false}, call));
    call.x = static_cast<const std::byte*>(call.x) + 2;
    EXPECT_FALSE(scores_by_tiles({}, call));
    call = problem.call(ASSAY_PIP);
    call.in = 20;
    EXPECT_FALSE(scores_by_tiles({}, call));
    call = problem.call(ASSAY_COMPRESSED);
    call.project_in = static_cast<const std::byte*>(call.project_in) + 8;
    EXPECT_FALSE(scores_by_tiles({}, call));
    // More tiles than a launch has blocks.
    call = problem.call(ASSAY_PIP);
    call.rows = 65535;
    call.out = 1 << 24;
    EXPECT_FALSE(scores_by_tiles({}, call));
    call = problem.call(ASSAY_COMPRESSED);
    call.rows = 65535;
    call.tokens = 1 << 20;
    call.projected_out = 1 << 12;
    EXPECT_FALSE(scores_by_tiles({}, call));
    AssayWeightGradient gradient = problem.gradient_call();
    EXPECT_TRUE(gradient_by_tiles({}, gradient));
    gradient.rows = gradient.tokens = 1 << 24;
    EXPECT_FALSE(gradient_by_tiles({}, gradient));
    gradient = problem.gradient_call();
    gradient.type = ASSAY_F32;
    EXPECT_FALSE(gradient_by_tiles({}, gradient));
}

TEST(EmulatedRowScores, RoundTheTargetsGradientAsFloatsAreRounded) {
    for (const auto& [value, bits] : std::vector<std::pair<float, std::uint32_t>>{
             {1.0F, 0x3f80},
             {1.00390625F, 0x3f80},     // the middle: even
             {1.01171875F, 0x3f82},     // the next middle
             {1.00390636F, 0x3f81},     // above it
             {-3.3999999e38F, 0xff80},  // beyond the largest
             {0.0F, 0}})
        EXPECT_EQ(round_to_bf16(value), bits) << value;
    const std::uint32_t not_a_number = round_to_bf16(std::bit_cast<float>(0x7f800001U));
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(not_a_number << 16)));
}

TEST(EmulatedRowScores, AreTheSameBitsInAnyOrderOfThreads) {
    RowScoresProblem problem(ASSAY_F32, 20, 30, 18, 3, 2, 4);
    for (const AssayScoring scoring : {ASSAY_PIP, ASSAY_GIP, ASSAY_COMPRESSED}) {
        AssayRowScores call = problem.call(scoring);
        std::vector<float> first;
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            problem.give_workspace(call, row_scores_layout(call).bytes);
            EmulatedMachine machine(4, seed);
            launch_row_scores(machine, call);
            if (seed == 0) first = problem.scores;
            EXPECT_EQ(problem.scores, first);
        }
    }
}

}  // namespace
}  // namespace assay::kernels::cuda
