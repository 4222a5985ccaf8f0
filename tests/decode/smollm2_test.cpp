// SmolLM2-135M-Instruct (GGUF, Q4_1) against logits and a continuation that were computed elsewhere
// in fp32 from the dequantised weights. ASSAY_TEST_MODEL names the file; skipped without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "tests/decode/toy_networks.hpp"

namespace assay::decode {
namespace {

const std::vector<int> prompt{1, 504, 3575, 282, 4649, 314};
const std::vector<int> best{7042, 3692, 2250, 260, 450};
const std::vector<double> best_logits{15.414, 11.647, 11.250, 11.134, 11.074};
const std::vector<int> continuation{7042, 30,   198, 198,  504,  3575, 282, 260,
                                    1797, 1918, 314, 1315, 2863, 4206, 30};

struct Case {
    WeightType weights;
    double tolerance;
};

class SmolLM2 : public testing::TestWithParam<Case> {
  protected:
    void SetUp() override {
        const char* path = std::getenv("ASSAY_TEST_MODEL");
        if (!path) GTEST_SKIP() << "needs ASSAY_TEST_MODEL, the GGUF file of SmolLM2-135M-Instruct";
        sequence = std::make_unique<LoneSequence>(nn::TensorFile(path),
                                                  ModelOptions{.weights = GetParam().weights});
    }
    std::unique_ptr<LoneSequence> sequence;
};

TEST_P(SmolLM2, LogitsAndGreedyContinuation) {
    std::span<const float> logits = sequence->feed(prompt);
    std::vector<int> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + 5, order.end(), [&](int a, int b) {
        return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    for (std::size_t i = 0; i < best.size(); ++i) {
        EXPECT_EQ(order[i], best[i]);
        EXPECT_NEAR(logits[static_cast<std::size_t>(best[i])], best_logits[i],
                    GetParam().tolerance);
    }
    std::vector<int> ids;
    while (ids.size() < continuation.size()) {
        ids.push_back(
            static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
        logits = sequence->feed({&ids.back(), 1});
    }
    EXPECT_EQ(ids, continuation);
}

// The published values have three decimals; bf16 keeps eight bits of each weight.
INSTANTIATE_TEST_SUITE_P(Weights, SmolLM2,
                         testing::Values(Case{WeightType::stored, 1e-3},
                                         Case{WeightType::f32, 1e-3}, Case{WeightType::bf16, 0.2}));

}  // namespace
}  // namespace assay::decode
