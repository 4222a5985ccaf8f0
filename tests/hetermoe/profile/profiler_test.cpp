// Measured here, printed, read again and planned with.
#include "impls/hetermoe/profile/profiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impls/hetermoe/policy/plan.hpp"
#include "impls/hetermoe/profile/profile_file.hpp"
#include "impls/nn/moe/gpt.hpp"

namespace assay::hetermoe {
namespace {

ProfilerSettings small() {
    ProfilerSettings settings;
    settings.layers = 3;
    settings.width = 32;
    settings.heads = 4;
    settings.hidden = 48;
    settings.tokens = 32;
    settings.new_gpus = 2;
    settings.old_gpus = 4;
    settings.memory = 1 << 22;
    settings.seconds = 0.01;
    return settings;
}

class HetermoeProfiler : public testing::TestWithParam<bool> {
  protected:
    HetermoeProfiler() { settings_.mixtral = GetParam(); }
    ProfilerSettings settings_ = small();
};
INSTANTIATE_TEST_SUITE_P(Shapes, HetermoeProfiler, testing::Bool());

TEST_P(HetermoeProfiler, WhatItMeasuresCanBePlannedWith) {
    int told = 0;
    const auto measured = measure_profile(settings_, [&](std::string_view) { ++told; });
    EXPECT_GE(told, 3);
    EXPECT_GT(measured.backward, 0.5);
    const auto read = read_profile(to_toml(measured.profile), "measured.toml");
    EXPECT_EQ(read.layers, 3);
    EXPECT_EQ(read.new_kind.gpus, 2);
    EXPECT_EQ(read.old_kind.gpus, 4);
    EXPECT_EQ(read.new_kind.attention, measured.profile.new_kind.attention);
    EXPECT_EQ(read.old_kind.expert, measured.profile.old_kind.expert);
    EXPECT_EQ(read.exchange, measured.profile.exchange);
    EXPECT_EQ(read.old_kind.capacity, measured.profile.old_kind.capacity);
    const Plan planned = plan(read, {});
    EXPECT_GT(planned.best_option().per_s, Fraction(0));
    EXPECT_TRUE(planned.rivals);
}

// Memory is counted, not sampled: it is what it must be to the byte.
TEST_P(HetermoeProfiler, MemoryIsExact) {
    const auto measured = measure_profile(settings_, [](std::string_view) {});
    const nn::MoeGptConfig model{.layers = 3,
                                 .width = 32,
                                 .heads = 4,
                                 .hidden = 48,
                                 .context = 32,
                                 .shape = GetParam() ? nn::MoeShape::mixtral : nn::MoeShape::gpt};
    std::int64_t values = 0;
    for (const auto& spec : nn::expert_parameters(model))
        values += c10::multiply_integers(spec.shape);
    EXPECT_EQ(measured.expert_bytes, values * 4 * 4);  // weights, gradients, two moments
    // The residual, two experts' outputs, their weights and numbers for each token.
    EXPECT_EQ(measured.boundary_bytes, 32 * (3 * 32 * 4 + 2 * 4 + 2 * 8));
    ASSERT_TRUE(measured.profile.old_kind.capacity);
    const auto most = *settings_.memory / measured.expert_bytes;
    EXPECT_GT(*measured.profile.old_kind.capacity, most / 2);
    EXPECT_LT(*measured.profile.new_kind.capacity, *measured.profile.old_kind.capacity);
}

// It keeps and computes the rows of four.
TEST(HetermoeProfilerMemory, AnOldGpuOfSeveralNewOnesHoldsFewerExperts) {
    auto settings = small();
    settings.new_gpus = settings.old_gpus = 1;
    const auto of_one = measure_profile(settings, [](std::string_view) {});
    settings.new_gpus = 4;
    const auto of_four = measure_profile(settings, [](std::string_view) {});
    EXPECT_LT(*of_four.profile.old_kind.capacity, *of_one.profile.old_kind.capacity);
    EXPECT_EQ(of_four.profile.new_kind.capacity, of_one.profile.new_kind.capacity);
}

TEST(HetermoeProfilerTimes, AreOfEveryKindOfAttention) {
    using Attention = ProfilerSettings::Attention;
    auto settings = small();
    for (const auto kind : {Attention::fused, Attention::materialised, Attention::written_out}) {
        settings.attention = kind;
        const auto measured = measure_profile(settings, [](std::string_view) {});
        EXPECT_GT(*measured.profile.new_kind.attention, 1);
    }
}

// A new GPU's attention over longer sequences takes longer; experts do not care.
TEST(HetermoeProfilerTimes, FollowTheModel) {
    auto settings = small();
    settings.width = 64;
    settings.seconds = 0.05;
    const auto short_one = measure_profile(settings, [](std::string_view) {});
    settings.tokens *= 8;
    const auto long_one = measure_profile(settings, [](std::string_view) {});
    EXPECT_GT(*long_one.profile.new_kind.attention, 2 * *short_one.profile.new_kind.attention);
    EXPECT_GT(long_one.profile.new_kind.expert, short_one.profile.new_kind.expert);
}

}  // namespace
}  // namespace assay::hetermoe
