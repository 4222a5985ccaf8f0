// Weights for timing: small, never denormal, a function of their seed; and what experts weigh.
#include "kernels/cpu/random_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/reference/random_problem.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/sparse_ffn/experts.hpp"

namespace assay::kernels {
namespace {

TEST(RandomWeights, AreSmallAndNeverDenormal) {
    for (const AssayType type : reference::all_types) {
        const std::vector<std::byte> pattern = random_weight_pattern(type, 7);
        const auto weights = static_cast<std::int64_t>(pattern.size()) / bytes_per_unit(type) *
                             weights_per_unit(type);
        EXPECT_EQ(weights, 31253 * 32);
        const double least = type == ASSAY_F16 ? 0x1p-14 : 0x1p-126;
        double sum = 0, squares = 0;
        for (std::int64_t i = 0; i < weights; ++i) {
            const double value = reference::weight_at(type, pattern.data(), i);
            ASSERT_LE(std::fabs(value), 0x1p-4) << type;
            if (!is_quantised(type)) {
                ASSERT_GE(std::fabs(value), least) << type;
            }
            sum += value;
            squares += value * value;
        }
        const double spread = std::sqrt(squares / static_cast<double>(weights));
        EXPECT_NEAR(sum / static_cast<double>(weights), 0, spread / 5) << type;
        EXPECT_GT(spread, 0x1p-9) << type;
    }
}

TEST(RandomWeights, AreAFunctionOfTheirSeed) {
    EXPECT_EQ(random_weight_pattern(ASSAY_BF16, 1), random_weight_pattern(ASSAY_BF16, 1));
    EXPECT_NE(random_weight_pattern(ASSAY_BF16, 1), random_weight_pattern(ASSAY_BF16, 2));
}

TEST(RandomWeights, RepeatUntilTheMemoryIsFull) {
    const std::vector<std::byte> pattern{std::byte{1}, std::byte{2}, std::byte{3}};
    std::vector<std::byte> memory(7);
    repeat_pattern(pattern, memory);
    for (std::size_t i = 0; i < memory.size(); ++i) EXPECT_EQ(memory[i], pattern[i % 3]);
}

TEST(ExpertBytes, CountMatricesAndRouters) {
    AssayFfn ffn{};
    ffn.width = 4096;
    ffn.experts = 344;
    ffn.expert_size = neurons_per_expert;
    ffn.type = ASSAY_BF16;
    ffn.activation = ASSAY_SWIGLU;
    EXPECT_EQ(ffn.experts * expert_bytes(ffn), 3U * 11008 * 4096 * 2);
    EXPECT_EQ(router_bytes(ffn), 344U * 4096 * 2);
    ffn.activation = ASSAY_GELU;
    EXPECT_EQ(expert_bytes(ffn), 2U * 32 * 4096 * 2);
    ffn.type = ASSAY_F32;
    EXPECT_EQ(expert_matrix_bytes(ffn), 32U * 4096 * 4);
}

}  // namespace
}  // namespace assay::kernels
