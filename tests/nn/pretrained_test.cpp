// SmolLM2-135M-Instruct as packaged (ASSAY_TEST_MODEL names its file): logits and greedy
// continuation known from an independent implementation.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "impls/nn/decoder.hpp"

namespace assay::nn {
namespace {

class Pretrained : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        at::set_num_threads(2);
        if (const char* file = std::getenv("ASSAY_TEST_MODEL"))
            decoder_ = std::make_unique<Decoder>(Decoder::load(TensorFile(file)));
    }
    static void TearDownTestSuite() { decoder_.reset(); }

    void SetUp() override {
        if (!decoder_) GTEST_SKIP() << "ASSAY_TEST_MODEL does not name the model's file";
    }

    at::Tensor last_logits(const std::vector<std::int64_t>& ids, at::ScalarType compute) {
        at::NoGradGuard no_grad;
        DenseFeedForward dense;
        return decoder_->logits(at::tensor(ids, at::kLong).unsqueeze(0), dense, compute)[0][-1];
    }

    static inline std::unique_ptr<Decoder> decoder_;
    const std::vector<std::int64_t> prompt_{1, 504, 3575, 282, 4649, 314};
    const std::vector<std::int64_t> top_{7042, 3692, 2250, 260, 450};
    const std::vector<double> value_{15.414, 11.647, 11.250, 11.134, 11.074};
};

TEST_F(Pretrained, ShapeIsThePublishedOne) {
    const auto& config = decoder_->config();
    EXPECT_EQ(config.layers, 30);
    EXPECT_EQ(config.width, 576);
    EXPECT_EQ(config.hidden, 1536);
    EXPECT_EQ(config.heads, 9);
    EXPECT_EQ(config.kv_heads, 3);
    EXPECT_EQ(config.vocabulary, 49152);
    EXPECT_EQ(config.parameters(), 134515008);
}

TEST_F(Pretrained, TopLogitsAreTheKnownOnes) {
    const auto logits = last_logits(prompt_, at::kFloat);
    const auto best = std::get<1>(logits.topk(5));
    for (std::int64_t i = 0; i < 5; ++i) {
        const auto number = static_cast<std::size_t>(i);
        EXPECT_EQ(best[i].item<std::int64_t>(), top_[number]);
        EXPECT_NEAR(logits[top_[number]].item<double>(), value_[number], 2e-2);
    }
}

TEST_F(Pretrained, Bfloat16IsNear) {
    const auto logits = last_logits(prompt_, at::kBFloat16);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(logits[top_[i]].item<double>(), value_[i], 0.3);
}

TEST_F(Pretrained, ContinuesAsKnown) {
    const std::vector<std::int64_t> expected{7042, 30,   198, 198,  504,  3575, 282, 260,
                                             1797, 1918, 314, 1315, 2863, 4206, 30};
    auto ids = prompt_;
    for (const auto next : expected) {
        ASSERT_EQ(last_logits(ids, at::kFloat).argmax().item<std::int64_t>(), next)
            << "after " << ids.size() << " ids";
        ids.push_back(next);
    }
}

}  // namespace
}  // namespace assay::nn
