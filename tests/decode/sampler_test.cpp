#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "impls/decode/cpu/picker.hpp"
#include "impls/decode/sampling.hpp"
#include "impls/decode/weights/weights.hpp"
#include "impls/nn/hashes.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

const std::vector<float> logits{1.0f, 3.0f, -2.0f, 3.0f, 2.0f};

/// Runs a picker over rows, with one thread.
std::vector<PickedRow> picked(std::vector<std::vector<float>> rows, const Pick& pick,
                              int scored = -1) {
    std::vector<LogitRow> asked;
    for (std::vector<float>& row : rows) asked.push_back({row, &pick, scored});
    std::vector<PickedRow> out(rows.size());
    const AssayKernels* const kernels = assay_cpu_kernels(nullptr);
    const std::unique_ptr<AssayContext, void (*)(AssayContext*)> context{
        kernels->create(1, 0, nullptr), kernels->destroy};
    Picker(static_cast<int>(rows[0].size()), static_cast<int>(rows.size()), 1)
        .run(*context, loops(), asked, out);
    return out;
}

/// Draws 0, 1, …
std::vector<PickedId> picks_of(const std::vector<float>& from, const Sampling& sampling,
                               int draws) {
    const float sharpness = sampling.temperature > 0 ? sharpness_of(sampling.temperature) : 1;
    std::vector<SoftmaxPart> parts;
    for (std::size_t at = 0; at < from.size(); at += softmax_piece)
        parts.push_back(loops().softmax(
            from.data() + at,
            static_cast<int>(std::min<std::size_t>(softmax_piece, from.size() - at)), sharpness));
    std::vector<int> room(from.size());
    std::vector<PickedId> picks;
    for (int i = 0; i < draws; ++i)
        picks.push_back(pick_id(from, {.sampling = sampling, .draw = static_cast<std::uint64_t>(i)},
                                parts, room));
    return picks;
}

std::vector<int> draws_of(const std::vector<float>& from, const Sampling& sampling, int draws) {
    std::vector<int> ids;
    for (const PickedId& each : picks_of(from, sampling, draws)) ids.push_back(each.id);
    return ids;
}

std::map<int, int> counts(const Sampling& sampling, int draws) {
    std::map<int, int> result;
    for (const int id : draws_of(logits, sampling, draws)) ++result[id];
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
        return draws_of(logits, {.temperature = 1, .seed = seed}, 50);
    };
    EXPECT_EQ(sequence(1), sequence(1));
    EXPECT_NE(sequence(1), sequence(2));
}

TEST(Sampler, RefusesWhatMakesNoSense) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const Sampling& wrong :
         {Sampling{.temperature = -1}, Sampling{.temperature = nan}, Sampling{.top_k = -1},
          Sampling{.top_p = 0}, Sampling{.top_p = 1.1}, Sampling{.top_p = nan}})
        EXPECT_THROW(check(wrong), UserError);
}

/// The id by its definition, and how likely it was to be drawn: all ids in order, in double.
PickedId drawn_plainly(const std::vector<float>& from, const Sampling& sampling,
                       std::uint64_t draw) {
    std::vector<int> ids(from.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) {
        return from[static_cast<std::size_t>(a)] > from[static_cast<std::size_t>(b)];
    });
    if (sampling.top_k > 0 && static_cast<std::size_t>(sampling.top_k) < ids.size())
        ids.resize(static_cast<std::size_t>(sampling.top_k));
    const auto weight = [&](int id) {
        return std::exp((static_cast<double>(from[static_cast<std::size_t>(id)]) -
                         static_cast<double>(from[static_cast<std::size_t>(ids[0])])) /
                        sampling.temperature);
    };
    double all = 0, kept = 0;
    for (const int id : ids) all += weight(id);
    std::size_t count = 0;
    while (count < ids.size() && (count == 0 || kept < sampling.top_p * all))
        kept += weight(ids[count++]);
    const std::uint64_t random = nn::counter_hash(nn::counter_hash(sampling.seed) + draw);
    double left = kept * std::ldexp(static_cast<double>(random >> 11), -53);
    for (std::size_t i = 0;; ++i) {
        left -= weight(ids[i]);
        if (left < 0 || i + 1 == count) return {ids[i], std::log(weight(ids[i]) / kept)};
    }
}

// Many ids, some of equal weight, of which few or nearly all are sorted.
TEST(Sampler, DrawsAsTheDefinitionDoes) {
    std::mt19937_64 random(3);
    std::vector<float> many(5000);
    for (float& each : many) each = static_cast<float>(random() % 64) / 8;
    for (const Sampling& sampling :
         {Sampling{.temperature = 1, .top_k = 40}, Sampling{.temperature = 1, .top_k = 4900},
          Sampling{.temperature = 0.25, .top_p = 0.5}, Sampling{.temperature = 9, .top_p = 0.97},
          Sampling{.temperature = 0.8, .top_k = 300, .top_p = 0.9}}) {
        const std::vector<PickedId> picks = picks_of(many, sampling, 50);
        for (std::size_t i = 0; i < picks.size(); ++i) {
            const PickedId plainly = drawn_plainly(many, sampling, i);
            ASSERT_EQ(picks[i].id, plainly.id) << sampling.top_k << ", " << sampling.top_p;
            // Sums over all ids are of floats.
            ASSERT_NEAR(picks[i].log_probability, plainly.log_probability, 1e-5)
                << sampling.top_k << ", " << sampling.top_p;
        }
    }
}

// What RL divides by: the probability by which a token came, not that of the model.
TEST(Picker, TheSamplersLogProbabilitiesAreItsOwn) {
    const auto of = [&](const Pick& pick) { return picked({logits}, pick)[0]; };
    EXPECT_EQ(of({}).sampled_log_probability, 0);  // the likeliest, whatever else
    EXPECT_EQ(of({.forced = 2}).sampled_log_probability, 0);
    EXPECT_EQ(of({.sampling = {.temperature = 1, .top_k = 1}}).sampled_log_probability, 0);
    EXPECT_LT(of({.sampling = {.temperature = 1, .top_k = 1}}).log_probability, -0.5);
    const PickedRow plain = of({.sampling = {.temperature = 1}});
    EXPECT_NEAR(plain.sampled_log_probability, plain.log_probability, 1e-6);
    // Of those that the mask leaves: 1, −2 and 2.
    const std::vector<std::uint64_t> allowed{0b10101};
    const Pick masked{.sampling = {.temperature = 2}, .allowed = allowed};
    const PickedRow row = of(masked);
    const double sum = std::exp(0.5) + std::exp(-1) + std::exp(1);
    EXPECT_NEAR(row.sampled_log_probability,
                static_cast<double>(logits[static_cast<std::size_t>(row.id)]) / 2 - std::log(sum),
                1e-6);
}

TEST(Picker, LogProbabilitiesOfASmallSoftmax) {
    double expected = 0, sum = 0;
    for (const float logit : logits) expected += std::exp(static_cast<double>(logit));
    for (int id = 0; id < 5; ++id) {
        const Pick forced{.forced = id};
        const PickedRow row = picked({logits}, forced, id)[0];
        EXPECT_EQ(row.id, id);
        EXPECT_EQ(static_cast<float>(row.score), row.log_probability);
        EXPECT_NEAR(row.score,
                    static_cast<double>(logits[static_cast<std::size_t>(id)]) - std::log(expected),
                    1e-6);
        sum += std::exp(row.score);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    const std::vector<float> far{1000.0f, 0.0f};
    EXPECT_NEAR(picked({far}, {}, 1)[0].score, -1000, 1e-3);
    EXPECT_EQ(picked({far}, {}, 0)[0].score, 0);
}

// What is not allowed still counts in the softmax, and is scored as it is.
TEST(Picker, WhatIsNotAllowedIsNotPicked) {
    const std::vector<std::uint64_t> allowed{0b10101};
    const PickedRow all = picked({logits}, {}, 1)[0];
    for (const double temperature : {0.0, 1.0}) {
        const Pick pick{.sampling = {.temperature = temperature}, .allowed = allowed};
        const PickedRow row = picked({logits}, pick, 1)[0];
        EXPECT_EQ(row.id % 2, 0);
        EXPECT_EQ(row.score, all.score);
        EXPECT_EQ(row.log_probability, picked({logits}, {.forced = row.id})[0].log_probability);
    }
}

TEST(Picker, PicksNothingWhereThereIsNoSoftmax) {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    const std::vector<float> good{1, -infinite, 2}, over{1, infinite, 2}, under(3, -infinite),
        nan{1, 2, std::numeric_limits<float>::quiet_NaN()};
    const std::vector<PickedRow> out = picked({good, over, under, nan}, {});
    EXPECT_TRUE(out[0].finite);
    EXPECT_EQ(out[0].id, 2);
    for (std::size_t row = 1; row < out.size(); ++row) {
        EXPECT_FALSE(out[row].finite) << row;
        EXPECT_EQ(out[row].id, -1) << row;
    }
}

TEST(WeightTypes, ByName) {
    EXPECT_EQ(of_word<WeightType>("stored"), WeightType::stored);
    EXPECT_EQ(of_word<WeightType>("f32"), WeightType::f32);
    EXPECT_EQ(of_word<WeightType>("bf16"), WeightType::bf16);
    EXPECT_EQ(of_word<WeightType>("f16"), std::nullopt);
}

}  // namespace
}  // namespace assay::decode
