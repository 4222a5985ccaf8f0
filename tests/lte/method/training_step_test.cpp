// A training step of each kind (dense, stage 1, stage 2), in single precision on the CPU and on a
// GPU, against double precision and against each other: losses, gradients, and the first steps of a
// training. Skipped in part where there is no GPU.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "impls/lte/method/loss_schedule.hpp"
#include "impls/lte/method/routed_feed_forward.hpp"
#include "impls/lte/method/stages.hpp"
#include "impls/nn/accelerator.hpp"
#include "impls/nn/training/language_model.hpp"
#include "tests/nn/training/toy_text.hpp"

namespace assay::lte {
namespace {

constexpr double tau = 0.5;
constexpr std::int64_t steps = 3;

nn::DecoderConfig config(nn::Activation activation) {
    nn::DecoderConfig c;
    c.activation = activation;
    c.layers = 3;
    c.width = 64;
    c.hidden = 256;
    c.heads = c.kv_heads = 4;
    c.head_width = 16;
    c.context = 64;
    return c;
}

const nn::TokenData& text() {
    static const auto data =
        nn::TokenData::from_text(nn::sums(2000), nn::Tokenizer::bytes(), 0.1, 64);
    return data;
}

/// What a step comes to, as doubles on the CPU.
struct Step {
    std::vector<double> losses;  ///< dense, soft, hard; then of the first steps of a training
    std::vector<at::Tensor> gradients;  ///< by kind of step, then by block
};

Step step_on(at::Device device, at::ScalarType compute, std::uint64_t seed = 7,
             nn::Activation activation = nn::Activation::swiglu) {
    Step step;
    nn::Decoder decoder(config(activation), seed, device);
    Routers routers(config(activation), {.init_scale = 3, .seed = seed}, device);
    const auto tokens = text().batch(5, 0, 8).to(device);
    const auto scored = static_cast<double>(tokens.size(0) * (tokens.size(1) - 1));
    nn::DenseFeedForward dense;
    LteFeedForward soft(routers, tau, LteMode::soft), hard(routers, tau, LteMode::hard);
    for (nn::FeedForward* ffn :
         {static_cast<nn::FeedForward*>(&dense), static_cast<nn::FeedForward*>(&soft),
          static_cast<nn::FeedForward*>(&hard)}) {
        for (auto& block : decoder.blocks()) block->zero_grad();
        for (auto& block : routers.blocks()) block->zero_grad();
        const auto loss = decoder.loss(tokens, *ffn, compute) / scored;
        loss.backward();
        step.losses.push_back(loss.item<double>());
        for (auto& block : decoder.blocks())
            step.gradients.push_back(block->grad().to(at::kCPU, at::kDouble, false, true));
        for (auto& block : routers.blocks())
            step.gradients.push_back(block->grad().to(at::kCPU, at::kDouble, false, true));
    }
    nn::LanguageModelTraining training;
    training.options.steps = steps;
    training.options.learning_rate = 1e-3;
    training.sequences = 8;
    training.compute = compute;
    nn::NoState nothing;
    TargetSchedule schedule({.target = 0.5});
    train_stage1(decoder, routers, {}, schedule, text(), training, nothing,
                 [&](const Stage1Step& at) { step.losses.push_back(at.nll); });
    train_stage2(decoder, routers, tau, text(), training, nothing,
                 [&](std::int64_t, double nll) { step.losses.push_back(nll); });
    return step;
}

/// The largest relative difference of a loss, and of a block's gradient by its norm.
double largest_difference(const Step& a, const Step& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.losses.size(); ++i)
        largest = std::max(largest, std::abs(a.losses[i] - b.losses[i]) / std::abs(b.losses[i]));
    for (std::size_t i = 0; i < a.gradients.size(); ++i) {
        const double norm = b.gradients[i].norm().item<double>();
        const double difference = (a.gradients[i] - b.gradients[i]).norm().item<double>();
        if (norm == 0)
            EXPECT_EQ(difference, 0) << "block " << i << " has a gradient on one side only";
        else
            largest = std::max(largest, difference / norm);
    }
    return largest;
}

// Adam's first steps divide each gradient by its own size, which enlarges what rounding does.
constexpr double rounding = 2e-3;

TEST(TrainingStep, InSinglePrecisionIsThatInDouble) {
    for (const auto activation : {nn::Activation::swiglu, nn::Activation::gelu}) {
        const Step one = step_on(at::kCPU, at::kFloat, 7, activation);
        ASSERT_EQ(one.losses.size(), 3 + 2 * steps);
        EXPECT_LT(largest_difference(one, step_on(at::kCPU, at::kDouble, 7, activation)), rounding);
        EXPECT_GT(largest_difference(one, step_on(at::kCPU, at::kFloat, 8, activation)), 0.1);
    }
}

TEST(TrainingStep, OnAGpuIsThatOnTheCpu) {
    if (const auto missing = nn::gpu_missing()) GTEST_SKIP() << "not supported here: " << *missing;
    for (const auto activation : {nn::Activation::swiglu, nn::Activation::gelu})
        EXPECT_LT(largest_difference(step_on(at::Device(at::kCUDA, 0), at::kFloat, 7, activation),
                                     step_on(at::kCPU, at::kFloat, 7, activation)),
                  rounding);
}

// bf16 keeps 8 bits of a product's factors: 2^-8 each, and more where they cancel.
TEST(TrainingStep, InBf16StaysNearOnAGpu) {
    if (const auto missing = nn::gpu_missing()) GTEST_SKIP() << "not supported here: " << *missing;
    const Step gpu = step_on(at::Device(at::kCUDA, 0), at::kBFloat16),
               cpu = step_on(at::kCPU, at::kFloat);
    for (std::size_t i = 0; i < cpu.losses.size(); ++i)
        EXPECT_NEAR(gpu.losses[i], cpu.losses[i], 0.02 * cpu.losses[i]);
}

}  // namespace
}  // namespace assay::lte
