// The source of scores and gradients of rows, run by the emulation, against double precision.
#include <gtest/gtest.h>

#include "kernels/cuda/device/row_scores_kernels.hpp"
#include "kernels/cuda/emulation/emulated_machine.hpp"
#include "kernels/reference/row_scores_problem.hpp"

namespace assay::kernels::cuda {
namespace {

using reference::RowScoresProblem;

void score(RowScoresProblem& problem, AssayRowScores call) {
    problem.give_workspace(call, row_scores_layout(call).bytes);
    EmulatedMachine machine(4, static_cast<std::uint64_t>(call.out + call.tokens));
    launch_row_scores(machine, call);
}

void differentiate(RowScoresProblem& problem) {
    EmulatedMachine machine(4, static_cast<std::uint64_t>(problem.in));
    launch_weight_gradient(machine, problem.gradient_call());
}

TEST(EmulatedRowScores, AgreeForRandomShapes) {
    reference::expect_row_scores(score, differentiate, 12, 24);
}

// More than a tile each way.
TEST(EmulatedRowScores, AgreeAcrossTiles) {
    RowScoresProblem problem(ASSAY_BF16, 70, 66, 65, 2, 2, 3);
    problem.a = 3;
    for (const AssayScoring scoring : {ASSAY_PIP, ASSAY_GIP, ASSAY_COMPRESSED}) {
        score(problem, problem.call(scoring));
        problem.expect_scores(scoring == ASSAY_COMPRESSED);
    }
    differentiate(problem);
    problem.expect_gradient();
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
