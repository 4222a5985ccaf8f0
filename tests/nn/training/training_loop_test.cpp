// The loop on problems whose course is known.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "impls/nn/training/training_loop.hpp"

namespace assay::nn {
namespace {

// One parameter x of three elements, drawn towards a target.
struct Bowl {
    ParameterBlock block{"bowl", std::vector<ParameterSpec>{{"x", {3}, 0, 1.0}}, at::kDouble, 1};
    at::Tensor target = at::tensor({3.0, -2.0, 0.5}, at::kDouble);
    double steepness = 1;

    TrainingStep loss() const {
        const auto value = (block[0] - target).square().sum() * steepness;
        return {value, value.item<double>()};
    }
};

TrainingOptions plain(std::int64_t steps, double rate) {
    TrainingOptions options;
    options.steps = steps;
    options.learning_rate = rate;
    options.warmup = 0;
    options.clip = 0;
    return options;
}

TEST(LearningRate, RisesStaysAndFalls) {
    TrainingOptions options = plain(100, 0.5);
    options.warmup = 0.1;
    EXPECT_DOUBLE_EQ(learning_rate(options, 0), 0.05);
    EXPECT_DOUBLE_EQ(learning_rate(options, 4), 0.25);
    EXPECT_DOUBLE_EQ(learning_rate(options, 9), 0.5);
    EXPECT_DOUBLE_EQ(learning_rate(options, 99), 0.5);
    options.decay_to_zero = true;
    EXPECT_DOUBLE_EQ(learning_rate(options, 9), 0.5);
    EXPECT_DOUBLE_EQ(learning_rate(options, 10), 0.5);
    EXPECT_DOUBLE_EQ(learning_rate(options, 55), 0.25);
    EXPECT_DOUBLE_EQ(learning_rate(options, 99), 0.5 / 90);
    options.warmup = 0;
    EXPECT_DOUBLE_EQ(learning_rate(options, 0), 0.5);
}

TEST(TrainingLoop, FollowsAdamAsWrittenDown) {
    Bowl bowl;
    auto options = plain(20, 0.1);
    options.warmup = 0.25;
    options.decay_to_zero = true;
    TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t) { return bowl.loss(); };
    NoState none;
    train("bowl", {&bowl.block}, options, callbacks, none, 0);

    for (std::int64_t i = 0; i < 3; ++i) {
        const double goal = bowl.target[i].item<double>();
        double x = 1, m = 0, v = 0;
        for (std::int64_t t = 1; t <= 20; ++t) {
            const double g = 2 * (x - goal);
            m = 0.9 * m + 0.1 * g;
            v = 0.95 * v + 0.05 * g * g;
            const double m_hat = m / (1 - std::pow(0.9, t)), v_hat = v / (1 - std::pow(0.95, t));
            x -= learning_rate(options, t - 1) * m_hat / (std::sqrt(v_hat) + 1e-8);
        }
        EXPECT_NEAR(bowl.block[0][i].item<double>(), x, 1e-9);
    }
}

TEST(TrainingLoop, KnowsNothingOfTheTrainingBefore) {
    const auto train_on = [](Bowl& bowl, std::int64_t steps) {
        TrainingCallbacks callbacks;
        callbacks.loss = [&](std::int64_t) { return bowl.loss(); };
        NoState none;
        train("bowl", {&bowl.block}, plain(steps, 0.1), callbacks, none, 0);
    };
    Bowl after_another, fresh;
    after_another.steepness = 50;  // moments that would be felt
    train_on(after_another, 7);
    ASSERT_GT(after_another.block.second_moment().min().item<double>(), 0);
    after_another.steepness = 1;
    fresh.block.values().copy_(after_another.block.values());
    train_on(after_another, 5);
    train_on(fresh, 5);
    EXPECT_EQ(after_another.block.digest(), fresh.block.digest());
}

TEST(TrainingLoop, ClipsTheNormOverAllBlocks) {
    // Two blocks with gradients (3, 0, 0) and (0, 4, 0): the norm is 5.
    const std::vector<ParameterSpec> spec{{"x", {3}, 0, 0.0}};
    for (const double clip : {1.0, 10.0}) {
        ParameterBlock a("a", spec, at::kDouble, 1), b("b", spec, at::kDouble, 1);
        auto options = plain(1, 0.1);
        options.clip = clip;
        TrainingCallbacks callbacks;
        callbacks.loss = [&](std::int64_t) { return TrainingStep{a[0][0] * 3 + b[0][1] * 4, 1.0}; };
        NoState none;
        train("two", {&a, &b}, options, callbacks, none, 0);
        const double scale = clip == 1.0 ? 0.2 : 1.0;
        EXPECT_NEAR(a.first_moment()[0].item<double>(), 0.1 * 3 * scale, 1e-12);
        EXPECT_NEAR(b.first_moment()[1].item<double>(), 0.1 * 4 * scale, 1e-12);
    }
}

TEST(TrainingLoop, BlocksLearnAtRatesOfTheirOwn) {
    // Adam's first step is as long as the rate, whatever the gradient.
    const std::vector<ParameterSpec> spec{{"x", {3}, 0, 0.0}};
    ParameterBlock slow("slow", spec, at::kDouble, 1), fast("fast", spec, at::kDouble, 1);
    TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t) { return TrainingStep{(slow[0] + fast[0]).sum(), 1.0}; };
    NoState none;
    train("two", {&slow, {&fast, 50}}, plain(1, 0.1), callbacks, none, 0);
    EXPECT_NEAR(slow.values()[0].item<double>(), -0.1, 1e-6);
    EXPECT_NEAR(fast.values()[0].item<double>(), -5, 1e-6);
}

TEST(TrainingLoop, CallsAfterEachUpdate) {
    Bowl bowl;
    std::vector<std::int64_t> asked, after;
    TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t step) {
        asked.push_back(step);
        return bowl.loss();
    };
    callbacks.after = [&](std::int64_t step, const TrainingStep& done) {
        after.push_back(step);
        EXPECT_GT(done.task_loss, 0);
    };
    NoState none;
    train("bowl", {&bowl.block}, plain(5, 0.01), callbacks, none, 2);
    EXPECT_EQ(asked, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(after, asked);
}

TEST(TrainingLoop, NoticesALossThatIsNotFinite) {
    for (const double poison : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        Bowl bowl;
        TrainingCallbacks callbacks;
        callbacks.loss = [&](std::int64_t step) {
            auto result = bowl.loss();
            if (step == 7) result.loss = result.loss * poison;
            return result;
        };
        NoState none;
        try {
            train("bowl", {&bowl.block}, plain(20, 0.01), callbacks, none, 0);
            FAIL() << "went on";
        } catch (const TrainingDiverged& stop) {
            EXPECT_EQ(stop.step(), 7);
            EXPECT_FALSE(std::isfinite(stop.loss()));
            EXPECT_NE(std::string(stop.what()).find("step 7"), std::string::npos);
        }
        EXPECT_TRUE(bowl.block.values().isfinite().all().item<bool>());  // not updated with it
    }
}

TEST(TrainingLoop, NoticesAGradientThatIsNotFinite) {
    Bowl bowl;
    TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t step) {
        // sqrt has an infinite slope at 0, where its value is good.
        auto result = bowl.loss();
        if (step == 3)
            result.loss = result.loss + (bowl.block[0] - bowl.block[0].detach()).sqrt().sum();
        return result;
    };
    NoState none;
    try {
        train("bowl", {&bowl.block}, plain(20, 0.01), callbacks, none, 0);
        FAIL() << "went on";
    } catch (const TrainingDiverged& stop) {
        EXPECT_EQ(stop.step(), 3);
        EXPECT_NE(std::string(stop.what()).find("gradient"), std::string::npos);
    }
    EXPECT_TRUE(bowl.block.values().isfinite().all().item<bool>());
}

TEST(TrainingLoop, NoticesALossThatGrows) {
    Bowl bowl;
    TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t step) {
        auto result = bowl.loss();
        result.task_loss = step < 15 ? 2.0 : 6.1;
        return result;
    };
    NoState none;
    try {
        train("bowl", {&bowl.block}, plain(20, 0.01), callbacks, none, 0);
        FAIL() << "went on";
    } catch (const TrainingDiverged& stop) {
        EXPECT_EQ(stop.step(), 15);
        EXPECT_EQ(stop.loss(), 6.1);
    }
    // A regulariser that grows is no divergence.
    callbacks.loss = [&](std::int64_t step) {
        auto result = bowl.loss();
        result.loss = result.loss + static_cast<double>(step * step);
        result.task_loss = 2;
        return result;
    };
    EXPECT_NO_THROW(train("bowl", {&bowl.block}, plain(20, 0.01), callbacks, none, 0));
}

}  // namespace
}  // namespace assay::nn
