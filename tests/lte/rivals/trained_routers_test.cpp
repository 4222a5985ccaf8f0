// Routers trained with the model: noisy top-k softmax and σ-MoE.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "impls/lte/rivals/trained_routers.hpp"
#include "impls/nn/training/language_model.hpp"
#include "suite/base/error.hpp"
#include "tests/lte/rivals/small_models.hpp"

namespace assay::lte {
namespace {

constexpr int size = 32;

/// Trains the model and the method's routers.
void train(nn::Decoder& decoder, TrainedSelection& method, std::int64_t steps) {
    nn::NoState nothing;
    method.training(true);
    nn::train_language_model("routed", decoder, method, short_text(), short_training(steps),
                             nothing, {}, method.along());
    method.training(false);
}

TEST(TopKSoftmax, GatesOfATokenSumToOne) {
    const auto decoder = lively_decoder("gpt-tiny");
    const auto& config = decoder.config();
    TopKSoftmax method(config, size, 3, 1, 5);
    for (auto* router : method.routers()) router->values().normal_(0, 0.3);
    // With gates that sum to one, identical experts give one expert's output.
    Onlooker compare([&](int layer, const at::Tensor& x, const nn::FfnWeights& weights) {
        auto alike = weights;
        const auto repeated = [](const at::Tensor& part, int dimension) {
            std::vector<std::int64_t> times(static_cast<std::size_t>(part.dim()), 1);
            times[static_cast<std::size_t>(dimension)] = 8;
            return part.narrow(dimension, 0, size).repeat(times);
        };
        alike.up = repeated(weights.up, 0);
        alike.up_bias = repeated(weights.up_bias, 0);
        alike.down = repeated(weights.down, 1);
        auto one = alike;
        one.up = alike.up.narrow(0, 0, size);
        one.up_bias = alike.up_bias.narrow(0, 0, size);
        one.down = alike.down.narrow(1, 0, size);
        EXPECT_TRUE(at::allclose(method.run(layer, x, alike),
                                 nn::ffn_output(one, nn::ffn_hidden(one, x)), 1e-4, 1e-5));
    });
    logits(decoder, compare);
    EXPECT_GT(method.top_weight(), 1.0 / 3);
    EXPECT_LE(method.top_weight(), 1);
    TopKSoftmax single(config, size, 1, 1, 5);
    logits(decoder, single);
    EXPECT_EQ(single.top_weight(), 1);
    EXPECT_THROW(TopKSoftmax(config, 48, 1, 1, 5), UserError);
}

TEST(TopKSoftmax, NoiseIsAFunctionOfTheStepAndAbsentOutsideTraining) {
    const auto decoder = lively_decoder("gpt-tiny");
    TopKSoftmax method(decoder.config(), size, 4, 1, 5);
    const auto at_step = [&](std::int64_t step) {
        method.along().before(step);
        return logits(decoder, method);
    };
    EXPECT_TRUE(at::equal(at_step(0), at_step(1)));
    method.training(true);
    EXPECT_TRUE(at::equal(at_step(0), at_step(0)));
    EXPECT_FALSE(at::equal(at_step(0), at_step(1)));
}

// Gates start at zero: without noise every token takes the same experts, only they are trained,
// and no other is ever tried.
TEST(TopKSoftmax, RoutersAreTrainedAlong) {
    auto model = trained_decoder("gpt-tiny", 20);
    TopKSoftmax noisy(model.config(), size, 2, 1, 5);
    std::vector<at::Tensor> before;
    for (auto* router : noisy.routers()) before.push_back(router->values().clone());
    train(model, noisy, 40);
    for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_FALSE(noisy.routers()[i]->values().equal(before[i])) << i;
}

TEST(SigmaMoe, EntropyTermIsThatOfTheMeanProbabilities) {
    EXPECT_NEAR(SigmaMoe::negative_entropy(at::zeros({10, 8})).item<double>(), -std::log(8.0),
                1e-6);
    auto one = at::zeros({10, 8});
    one.select(1, 3).fill_(100);
    EXPECT_NEAR(SigmaMoe::negative_entropy(one).item<double>(), 0, 1e-5);
    // Sure of each token, but even over the batch: nothing to regularise.
    EXPECT_NEAR(SigmaMoe::negative_entropy(100 * at::eye(8)).item<double>(), -std::log(8.0), 1e-5);
    const auto logits = at::randn({6, 5});
    const auto mean = at::softmax(logits, 1).mean(0);
    EXPECT_NEAR(SigmaMoe::negative_entropy(logits).item<double>(),
                (mean * mean.log()).sum().item<double>(), 1e-5);
}

TEST(SigmaMoe, RoutersStartWithRowsOfOneNorm) {
    const auto config = small_sizes("gpt-tiny").model;
    SigmaMoe method(config, size, 4, {});
    for (auto* router : method.routers()) {
        const auto norms = (*router)[0].norm(2, 1);
        EXPECT_NEAR(norms.max().item<double>(), norms.min().item<double>(), 1e-6);
        EXPECT_NEAR((*router)[0].std().item<double>(),
                    std::sqrt(2.0 / (config.width * config.layers)), 0.02);
    }
}

TEST(SigmaMoe, DropsExpertsOnlyWhileTraining) {
    const auto decoder = lively_decoder("llama-tiny");
    SigmaMoeOptions options;
    options.dropout = 0.5;
    SigmaMoe method(decoder.config(), size, 8, options);
    const auto first = logits(decoder, method);
    EXPECT_TRUE(at::equal(first, logits(decoder, method)));
    method.training(true);
    method.along().before(1);
    const auto dropped = logits(decoder, method);
    EXPECT_FALSE(at::equal(first, dropped));
    EXPECT_TRUE(at::equal(dropped, logits(decoder, method)));
    method.along().before(2);
    EXPECT_FALSE(at::equal(dropped, logits(decoder, method)));
}

// A strong regulariser evens out how often experts are likely.
TEST(SigmaMoe, RegulariserRaisesTheEntropy) {
    const auto entropy = [](double regularisation) {
        auto decoder = trained_decoder("gpt-tiny", 20);
        SigmaMoeOptions options;
        options.regularisation = regularisation;
        SigmaMoe method(decoder.config(), size, 2, options);
        // Begin lopsided.
        for (auto* router : method.routers()) (*router)[0].detach().mul_(8);
        train(decoder, method, 30);
        double sum = 0;
        Onlooker note([&](int layer, const at::Tensor& x, const nn::FfnWeights&) {
            const auto router = (*method.routers()[static_cast<std::size_t>(layer)])[0];
            sum -= SigmaMoe::negative_entropy(at::linear(x, router)).item<double>();
        });
        logits(decoder, note);
        return sum;
    };
    EXPECT_GT(entropy(3), entropy(0));
}

}  // namespace
}  // namespace assay::lte
