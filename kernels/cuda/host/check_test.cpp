// What the CUDA back end refuses, and that it says why. The addresses are never followed.
#include "kernels/cuda/host/check.hpp"

#include <gtest/gtest.h>

#include "kernels/cuda/host/launch_plan.hpp"

namespace assay::kernels::cuda {
namespace {

template <class Pointer>
Pointer at(std::uintptr_t address) {
    return reinterpret_cast<Pointer>(address);
}

/// The status of a good call after a change; what is refused has a reason.
template <class Call, class Change>
AssayStatus status_with(Call call, const Change& change) {
    change(call);
    const Verdict verdict = check(call);
    EXPECT_EQ(verdict.why.empty(), verdict.status == ASSAY_OK);
    return verdict.status;
}

TEST(CudaCheck, Gemv) {
    const AssayGemv good{4,       64, ASSAY_Q4_1,       at<void*>(4096),
                         nullptr, 16, at<float*>(4096), at<float*>(4096)};
    using Call = AssayGemv;
    EXPECT_EQ(status_with(good, [](Call&) {}), ASSAY_OK);
    EXPECT_EQ(status_with(good, [](Call& c) { c.columns = 48; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.rows = 0; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.rows = (1 << 30) + 1; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with(good, [](Call& c) { c.weights = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.weights = at<void*>(4097); }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.weights = at<void*>(4098); }), ASSAY_OK);
    EXPECT_EQ(status_with(good,
                          [](Call& c) {
                              c.type = ASSAY_F32;
                              c.weights = at<void*>(4098);
                          }),
              ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.x = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.y = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.batch = 0; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.batch = 17; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with(good, [](Call& c) { c.type = static_cast<AssayType>(6); }),
              ASSAY_UNSUPPORTED);
}

TEST(CudaCheck, Router) {
    const AssayRouter good{7,
                           3,
                           ASSAY_BF16,
                           at<void*>(2),
                           0.0f,
                           1,
                           at<float*>(4),
                           at<std::uint8_t*>(1),
                           at<std::int32_t*>(4),
                           at<std::int32_t*>(8)};
    using Call = AssayRouter;
    EXPECT_EQ(status_with(good, [](Call&) {}), ASSAY_OK);
    EXPECT_EQ(status_with(good, [](Call& c) { c.width = 0; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.experts = -1; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.width = 1 << 29; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with(good, [](Call& c) { c.type = ASSAY_Q8_0; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with(good, [](Call& c) { c.weights = at<void*>(3); }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.mask = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.active_count = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.batch = 17; }), ASSAY_UNSUPPORTED);
}

TEST(CudaCheck, SparseFfn) {
    AssaySparseFfn good{};
    good.ffn = {40, 4, 8, ASSAY_F16, ASSAY_SWIGLU, at<void*>(64), at<void*>(64), at<void*>(64)};
    good.batch = 2;
    good.x = at<float*>(64);
    good.active = good.active_count = at<std::int32_t*>(64);
    good.y = at<float*>(64);
    good.workspace = at<void*>(64);
    good.workspace_bytes = workspace_layout(good.ffn, good.batch).bytes;
    using Call = AssaySparseFfn;
    EXPECT_EQ(status_with(good, [](Call&) {}), ASSAY_OK);
    EXPECT_EQ(status_with(good, [](Call& c) { c.ffn.width = 0; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.ffn.width = 1 << 30; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with(good, [](Call& c) { c.ffn.expert_size = -1; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.ffn.experts = 1 << 28; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.ffn.type = ASSAY_Q4_0; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(
        status_with(good, [](Call& c) { c.ffn.activation = static_cast<AssayActivation>(3); }),
        ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with(good, [](Call& c) { c.ffn.gate = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.ffn.activation = ASSAY_GELU; }),
              ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.ffn.down = at<void*>(65); }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.active = nullptr; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.batch = 17; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with(good, [](Call& c) { c.batch = 3; }), ASSAY_BAD_ARGUMENT);  // workspace
    EXPECT_EQ(status_with(good, [](Call& c) { c.workspace_bytes -= 1; }), ASSAY_BAD_ARGUMENT);
    EXPECT_EQ(status_with(good, [](Call& c) { c.workspace = at<void*>(32); }), ASSAY_BAD_ARGUMENT);
}

TEST(CudaCheck, RowScoresFitAGrid) {
    AssayRowScores good{};
    good.scoring = ASSAY_COMPRESSED;
    good.type = ASSAY_F32;
    good.out = good.in = good.tokens = good.projected_out = good.projected_in = 1;
    good.rows = 60000;
    good.target_rows = 5535;
    good.x = good.go = good.target_x = good.target_go = at<void*>(64);
    good.project_out = good.project_in = at<void*>(64);
    good.scores = at<float*>(64);
    good.workspace = at<void*>(64);
    good.workspace_bytes = std::size_t{1} << 40;
    using Call = AssayRowScores;
    EXPECT_EQ(status_with(good, [](Call&) {}), ASSAY_OK);
    EXPECT_EQ(status_with(good, [](Call& c) { ++c.target_rows; }), ASSAY_UNSUPPORTED);
    EXPECT_EQ(status_with(good, [](Call& c) { c.rows = 65536; }), ASSAY_UNSUPPORTED);
}

}  // namespace
}  // namespace assay::kernels::cuda
