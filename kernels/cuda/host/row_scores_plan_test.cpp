// Launches and workspace of scores of rows.
#include "kernels/cuda/host/row_scores_plan.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/cuda/host/check.hpp"

namespace assay::kernels::cuda {
namespace {

AssayRowScores call_of(AssayScoring scoring) {
    AssayRowScores call{};
    call.scoring = scoring;
    call.out = 100;
    call.in = 65;
    call.tokens = 70;
    call.rows = 3;
    call.target_rows = 2;
    call.type = ASSAY_BF16;
    call.projected_out = 5;
    call.projected_in = 7;
    return call;
}

TEST(CudaRowScoresPlan, PartsOfTheWorkspaceLieApart) {
    const RowScoresLayout pip = row_scores_layout(call_of(ASSAY_PIP));
    EXPECT_EQ(pip.parts_of_row, 2 * 2);
    EXPECT_GE(pip.parts, 6500U);
    EXPECT_EQ(pip.parts % 16, 0U);
    EXPECT_GE(pip.bytes, 4 * (pip.parts + 12));
    EXPECT_EQ(row_scores_layout(call_of(ASSAY_GIP)).parts_of_row, 2 * 2 * 2);
    const RowScoresLayout compressed = row_scores_layout(call_of(ASSAY_COMPRESSED));
    EXPECT_GE(compressed.outs, 5U * 35);
    EXPECT_GE(compressed.ins, compressed.outs + 5 * 70 * 5);
    EXPECT_GE(compressed.bytes, 4 * (compressed.ins + 5 * 70 * 7));
}

TEST(CudaRowScoresPlan, LaunchesCoverEveryTile) {
    const Launch launch = product_launch(65, 64, 3);
    EXPECT_EQ(launch.x, 2);
    EXPECT_EQ(launch.y, 3);
    EXPECT_EQ(launch.threads, 256);
    EXPECT_LE(launch.memory_bytes, 48U * 1024);
    EXPECT_EQ(parts_launch(9).x, 9);
}

// What the least of GPUs (sm_86) gives a block, and room for the parts of the smaller tiles.
TEST(CudaRowScoresPlan, TilesFitWhereTheyMust) {
    const Launch launch = score_tiles_launch(3, 5, score_tile);
    EXPECT_EQ(launch.x, 15);
    EXPECT_EQ(launch.threads, score_threads);
    EXPECT_LE(launch.memory_bytes, 99U * 1024);
    for (int tokens = 1; tokens < 300; tokens += 37)
        for (int out = 8; out < 600; out += 56) {
            AssayRowScores call = call_of(ASSAY_PIP);
            call.tokens = tokens;
            call.out = out;
            EXPECT_LE(score_tiles(tokens, score_tile) * score_tiles(out, score_tile),
                      row_scores_layout(call).parts_of_row);
            call.scoring = ASSAY_GIP;
            EXPECT_LE(score_tiles(tokens, score_tile) * score_tiles(tokens, score_tile) *
                          call.target_rows,
                      row_scores_layout(call).parts_of_row);
        }
}

TEST(CudaRowScoresPlan, ChecksWhatItIsGiven) {
    alignas(64) static std::byte memory[1];
    AssayRowScores call = call_of(ASSAY_PIP);
    call.x = call.go = call.target_x = call.target_go = memory;
    call.scores = reinterpret_cast<float*>(memory);
    call.workspace = memory;
    call.workspace_bytes = row_scores_layout(call).bytes;
    EXPECT_EQ(check(call).status, ASSAY_OK);
    call.rows = 70000;
    call.workspace_bytes = row_scores_layout(call).bytes;
    EXPECT_EQ(check(call).status, ASSAY_UNSUPPORTED);
    call.rows = 3;
    call.x = memory + 1;
    EXPECT_EQ(check(call).status, ASSAY_BAD_ARGUMENT);
    call.x = memory;
    call.workspace_bytes = 1;
    EXPECT_EQ(check(call).status, ASSAY_BAD_ARGUMENT);
}

}  // namespace
}  // namespace assay::kernels::cuda
