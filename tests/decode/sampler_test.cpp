#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "impls/decode/cpu/picker.hpp"
#include "impls/decode/engine.hpp"
#include "impls/decode/sampler.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

const std::vector<float> logits{1.0f, 3.0f, -2.0f, 3.0f, 2.0f};

std::map<int, int> counts(const Sampling& sampling, int draws) {
    Sampler sampler(sampling);
    std::map<int, int> result;
    for (int i = 0; i < draws; ++i) ++result[sampler.choose(logits)];
    return result;
}

TEST(Sampler, GreedyTakesTheFirstOfTheLargest) {
    EXPECT_EQ(counts({}, 3), (std::map<int, int>{{1, 3}}));
}

TEST(Sampler, FollowsTheSoftmax) {
    constexpr int draws = 40000;
    for (const double temperature : {1.0, 2.0, 1e300}) {
        auto result = counts({.temperature = temperature, .seed = 5}, draws);
        double sum = 0;
        for (const float logit : logits) sum += std::exp(logit / temperature);
        for (int id = 0; id < 5; ++id) {
            const double p = std::exp(logits[static_cast<std::size_t>(id)] / temperature) / sum;
            // Five standard deviations of a binomial count.
            EXPECT_NEAR(result[id], draws * p, 5 * std::sqrt(draws * p * (1 - p)) + 1) << id;
        }
    }
}

TEST(Sampler, TopKAndTopPKeepTheLikeliest) {
    const auto ids = [](const std::map<int, int>& result) {
        std::vector<int> all;
        for (const auto& [id, count] : result) all.push_back(id);
        return all;
    };
    EXPECT_EQ(ids(counts({.temperature = 1, .top_k = 3}, 2000)), (std::vector{1, 3, 4}));
    EXPECT_EQ(ids(counts({.temperature = 1, .top_k = 1}, 200)), (std::vector{1}));
    EXPECT_EQ(ids(counts({.temperature = 1, .top_k = 99}, 20000)), (std::vector{0, 1, 2, 3, 4}));
    // The two largest share 0.797 of the weight, with the third 0.943.
    EXPECT_EQ(ids(counts({.temperature = 1, .top_p = 0.79}, 2000)), (std::vector{1, 3}));
    EXPECT_EQ(ids(counts({.temperature = 1, .top_p = 0.80}, 2000)), (std::vector{1, 3, 4}));
    EXPECT_EQ(ids(counts({.temperature = 1, .top_p = 1e-9}, 200)), (std::vector{1}));
    EXPECT_EQ(ids(counts({.temperature = 1e300, .top_p = 0.9}, 2000)),
              (std::vector{0, 1, 2, 3, 4}));
    EXPECT_EQ(ids(counts({.temperature = 1e-300}, 200)), (std::vector{1, 3}));
}

TEST(Sampler, SeedsDetermineTheSequence) {
    const auto sequence = [](std::uint64_t seed) {
        Sampler sampler({.temperature = 1, .seed = seed});
        std::vector<int> ids;
        for (int i = 0; i < 50; ++i) ids.push_back(sampler.choose(logits));
        return ids;
    };
    EXPECT_EQ(sequence(1), sequence(1));
    EXPECT_NE(sequence(1), sequence(2));
}

TEST(Sampler, RefusesWhatMakesNoSense) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const Sampling& wrong :
         {Sampling{.temperature = -1}, Sampling{.temperature = nan}, Sampling{.top_k = -1},
          Sampling{.top_p = 0}, Sampling{.top_p = 1.1}, Sampling{.top_p = nan}})
        EXPECT_THROW(Sampler{wrong}, UserError);
}

TEST(LogProbability, OfASmallSoftmax) {
    double sum = 0;
    for (int id = 0; id < 5; ++id) {
        const double p = log_probability(logits, id);
        double expected = 0;
        for (const float logit : logits) expected += std::exp(logit);
        EXPECT_NEAR(p, logits[static_cast<std::size_t>(id)] - std::log(expected), 1e-6);
        sum += std::exp(p);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    const std::vector<float> far{1000.0f, 0.0f};
    EXPECT_NEAR(log_probability(far, 1), -1000, 1e-3);
    EXPECT_EQ(log_probability(far, 0), 0);
}

TEST(Picker, PicksNothingWhereThereIsNoSoftmax) {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    const std::vector<float> good{1, -infinite, 2}, over{1, infinite, 2}, under(3, -infinite),
        nan{1, 2, std::numeric_limits<float>::quiet_NaN()};
    const Pick pick;
    const std::vector<LogitRow> rows{{good, &pick}, {over, &pick}, {under, &pick}, {nan, &pick}};
    std::vector<PickedRow> out(rows.size());
    const AssayKernels* const kernels = assay_cpu_kernels(nullptr);
    AssayContext* const context = kernels->create(1, 0, nullptr);
    ASSERT_TRUE(context);
    Picker().run(*context, loops(), rows, out);
    kernels->destroy(context);
    EXPECT_TRUE(out[0].finite);
    EXPECT_EQ(out[0].id, 2);
    for (std::size_t row = 1; row < rows.size(); ++row) {
        EXPECT_FALSE(out[row].finite) << row;
        EXPECT_EQ(out[row].id, -1) << row;
    }
}

TEST(WeightTypes, ByName) {
    EXPECT_EQ(parse_weight_type("stored"), WeightType::stored);
    EXPECT_EQ(parse_weight_type("f32"), WeightType::f32);
    EXPECT_EQ(parse_weight_type("bf16"), WeightType::bf16);
    EXPECT_EQ(parse_weight_type("f16"), std::nullopt);
}

}  // namespace
}  // namespace assay::decode
