// Scores and gradients of rows on a GPU, against double precision; skipped where there is none.
#include "kernels/cuda/harness/device_array.hpp"
#include "kernels/cuda/harness/gpu_test.hpp"
#include "kernels/reference/row_scores_problem.hpp"

namespace assay::kernels::cuda::harness {
namespace {

using reference::RowScoresProblem;
using reference::StoredNumbers;

class CudaRowScores : public GpuTest {
  protected:
    void expect_ok(AssayStatus status) {
        ASSERT_EQ(status, ASSAY_OK) << kernels->last_error(context.get());
        ASSERT_EQ(kernels->synchronise(context.get()), ASSAY_OK)
            << kernels->last_error(context.get());
    }

    void score(RowScoresProblem& problem, AssayRowScores call) {
        const DeviceArray<std::byte> x(problem.x.bytes), go(problem.go.bytes),
            target_x(problem.target_x.bytes), target_go(problem.target_go.bytes),
            project_out(problem.project_out.bytes), project_in(problem.project_in.bytes);
        DeviceArray<float> scores(problem.scores);
        DeviceArray<std::byte> workspace(kernels->row_scores_workspace(&call));
        workspace.poison();
        call.x = x.data();
        call.go = go.data();
        call.target_x = target_x.data();
        call.target_go = target_go.data();
        call.project_out = project_out.data();
        call.project_in = project_in.data();
        call.scores = scores.data();
        call.workspace = workspace.data();
        call.workspace_bytes = workspace.bytes();
        expect_ok(kernels->row_scores(context.get(), &call));
        problem.scores = scores.get();
    }

    void differentiate(RowScoresProblem& problem) {
        const DeviceArray<std::byte> x(problem.x.bytes), go(problem.go.bytes);
        const DeviceArray<float> weights(problem.weights);
        DeviceArray<float> gradient(problem.gradient);
        AssayWeightGradient call = problem.gradient_call();
        call.x = x.data();
        call.go = go.data();
        call.weights = weights.data();
        call.gradient = gradient.data();
        expect_ok(kernels->weight_gradient(context.get(), &call));
        problem.gradient = gradient.get();
    }
};

TEST_F(CudaRowScores, AgreeForRandomShapes) {
    reference::expect_row_scores(
        [&](RowScoresProblem& problem, AssayRowScores call) { score(problem, call); },
        [&](RowScoresProblem& problem) { differentiate(problem); }, 60, 90);
}

// bf16 by whole pieces of 16 bytes: on the tensor cores, more tiles than one.
TEST_F(CudaRowScores, AgreeOnTensorCores) {
    reference::expect_row_scores(
        [&](RowScoresProblem& problem, AssayRowScores call) { score(problem, call); },
        [&](RowScoresProblem& problem) { differentiate(problem); }, 40, 200, 8);
}

TEST_F(CudaRowScores, AreTheSameBitsInRepetitions) {
    RowScoresProblem problem(ASSAY_BF16, 320, 192, 128, 8, 2, 4);
    for (const AssayScoring scoring : {ASSAY_PIP, ASSAY_GIP, ASSAY_COMPRESSED}) {
        score(problem, problem.call(scoring));
        const std::vector<float> first = problem.scores;
        score(problem, problem.call(scoring));
        EXPECT_EQ(problem.scores, first);
    }
}

}  // namespace
}  // namespace assay::kernels::cuda::harness
