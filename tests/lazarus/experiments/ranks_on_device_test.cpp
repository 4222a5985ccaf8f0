// Fig. 10a's logical ranks on one device, here the processor: every row comes back from its expert.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "impls/lazarus/experiments/layers/ranks_on_device.hpp"
#include "impls/nn/moe/gpt.hpp"

namespace assay::lazarus {
namespace {

SkewedLayer layer(DispatchRule rule) {
    SkewedLayer layer;
    layer.width = 32;
    layer.rule = rule;
    layer.holders = {{0, 1, 2, 3}, {4, 5, 6, 7}, {7, 7, 0, 1}, {2, 3, 4, 5, 6}};
    if (rule.kind == DispatchRule::Kind::padded)
        layer.holders = {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}};
    layer.choices.resize(4);
    for (std::size_t rank = 0; rank < 4; ++rank)
        for (std::int64_t row = 0; row < 40; ++row)
            layer.choices[rank].push_back(row < 25 ? 7 : (row + std::int64_t(rank)) % 7);
    return layer;
}

TEST(RanksOnDevice, ComputeEveryRowByItsExpert) {
    const kernels::TimedDevice device(*assay_cpu_kernels(nullptr));
    for (const DispatchRule& rule : {DispatchRule{}, DispatchRule::padded_in(2)}) {
        const SkewedLayer skewed = layer(rule);
        const RanksOnDevice ranks(device, at::kCPU, at::kFloat, skewed);
        const PhaseTimes times = ranks.forward();
        EXPECT_GT(times.dispatch, 0);
        EXPECT_GT(times.experts, 0);
        EXPECT_GT(times.combine, 0);
        for (int rank = 0; rank < 4; ++rank)
            for (std::int64_t row = 0; row < 40; ++row) {
                const auto choice = skewed.choices[std::size_t(rank)][std::size_t(row)];
                const auto expected =
                    nn::expert_forward(ranks.expert(choice), ranks.rows(rank).narrow(0, row, 1));
                ASSERT_TRUE(
                    at::allclose(ranks.combined(rank).narrow(0, row, 1), expected, 1e-4, 1e-6))
                    << "rank " << rank << ", row " << row;
            }
    }
}

}  // namespace
}  // namespace assay::lazarus
