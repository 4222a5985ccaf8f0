// The CPU's scores and gradients of rows against double precision; what is refused.
#include <gtest/gtest.h>

#include "kernels/reference/back_ends.hpp"
#include "kernels/reference/row_scores_problem.hpp"

namespace assay::kernels {
namespace {

using reference::RowScoresProblem;

class RowScores : public reference::EachBackEnd {};

TEST_P(RowScores, AgreeForRandomShapes) {
    reference::expect_row_scores(
        [&](RowScoresProblem& problem, AssayRowScores call) {
            problem.give_workspace(call, kernels->row_scores_workspace(&call));
            ASSERT_EQ(kernels->row_scores(context.get(), &call), ASSAY_OK);
        },
        [&](RowScoresProblem& problem) {
            const AssayWeightGradient call = problem.gradient_call();
            ASSERT_EQ(kernels->weight_gradient(context.get(), &call), ASSAY_OK);
        },
        30, 20);
}

TEST_P(RowScores, AreTheSameWithAnyNumberOfThreads) {
    RowScoresProblem problem(ASSAY_BF16, 33, 17, 9, 6, 2, 5);
    for (const AssayScoring scoring : {ASSAY_PIP, ASSAY_GIP, ASSAY_COMPRESSED}) {
        std::vector<float> first;
        for (const int threads : {1, 2, 3}) {
            const auto other = reference::make_context(kernels, threads);
            AssayRowScores call = problem.call(scoring);
            problem.give_workspace(call, kernels->row_scores_workspace(&call));
            ASSERT_EQ(kernels->row_scores(other.get(), &call), ASSAY_OK);
            if (threads == 1) first = problem.scores;
            EXPECT_EQ(problem.scores, first);
        }
    }
}

TEST_P(RowScores, WithoutRowsAGradientIsZero) {
    RowScoresProblem problem(ASSAY_F32, 3, 4, 2, 2, 1, 6);
    problem.weights = {0, 0};
    const AssayWeightGradient call = problem.gradient_call();
    ASSERT_EQ(kernels->weight_gradient(context.get(), &call), ASSAY_OK);
    problem.expect_gradient();
}

TEST_P(RowScores, RefuseWhatTheyCannotDo) {
    RowScoresProblem problem(ASSAY_F32, 3, 4, 2, 2, 1, 7);
    const auto refused = [&](const auto& change) {
        AssayRowScores call = problem.call(ASSAY_COMPRESSED);
        problem.give_workspace(call, kernels->row_scores_workspace(&call));
        EXPECT_EQ(kernels->row_scores(context.get(), &call), ASSAY_OK);
        change(call);
        return kernels->row_scores(context.get(), &call) == ASSAY_BAD_ARGUMENT;
    };
    EXPECT_TRUE(refused([](AssayRowScores& c) { c.rows = 0; }));
    EXPECT_TRUE(refused([](AssayRowScores& c) { c.tokens = -1; }));
    EXPECT_TRUE(refused([](AssayRowScores& c) { c.type = ASSAY_Q8_0; }));
    EXPECT_TRUE(refused([](AssayRowScores& c) { c.scoring = static_cast<AssayScoring>(3); }));
    EXPECT_TRUE(refused([](AssayRowScores& c) { c.target_go = nullptr; }));
    EXPECT_TRUE(refused([](AssayRowScores& c) { c.project_in = nullptr; }));
    EXPECT_TRUE(refused([](AssayRowScores& c) { c.projected_out = 0; }));
    EXPECT_TRUE(refused([](AssayRowScores& c) { c.workspace_bytes -= 1; }));
    EXPECT_TRUE(refused([](AssayRowScores& c) { c.in = c.out = c.tokens = 1 << 24; }));
    AssayRowScores wide = problem.call(ASSAY_COMPRESSED);
    wide.projected_out = wide.projected_in = 1 << 24;
    EXPECT_EQ(kernels->row_scores_workspace(&wide), 0U);
    AssayRowScores rows = problem.call(ASSAY_GIP);
    rows.tokens = 1 << 22;
    EXPECT_EQ(kernels->row_scores_workspace(&rows), 0U);
    EXPECT_EQ(kernels->row_scores(context.get(), nullptr), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(kernels->row_scores_workspace(nullptr), 0U);
    AssayWeightGradient gradient = problem.gradient_call();
    gradient.weights = nullptr;
    EXPECT_EQ(kernels->weight_gradient(context.get(), &gradient), ASSAY_BAD_ARGUMENT);
    gradient = problem.gradient_call();
    gradient.in = 0;
    EXPECT_EQ(kernels->weight_gradient(context.get(), &gradient), ASSAY_BAD_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Cpu, RowScores, reference::every_back_end, reference::back_end_name);

}  // namespace
}  // namespace assay::kernels
