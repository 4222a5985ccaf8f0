// Profiles by the cost model: what tasks take grows as the counts say, and devices are what their
// profiles say.
#include "impls/hetermoe/cost/modelled_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include "impls/hetermoe/policy/plan.hpp"
#include "impls/hetermoe/profile/profile_file.hpp"

namespace assay::hetermoe {
namespace {

using ::testing::HasSubstr;

class ModelledProfile : public ::testing::Test {
  protected:
    ModelledProfile() { setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1); }

    static ModelledSetup setup(int tokens, const char* model = "mixtral-d1") {
        return {.model = model_shape(model),
                .tokens = tokens,
                .new_gpus = parse_gpus("a40:6", "--new"),
                .old_gpus = parse_gpus("v100:6", "--old"),
                .network = cluster_profile("hetermoe-on-premise")};
    }
    static double ratio(const TrainingProfile& profile) {
        return double(*profile.old_kind.attention) / double(*profile.new_kind.attention);
    }
};

TEST_F(ModelledProfile, CountsWhatAMixtralLayerDoes) {
    const TrainingProfile profile = modelled_profile(setup(8192));
    EXPECT_EQ(profile.layers, 8);
    EXPECT_EQ(profile.experts, 24);
    // 2·8192 rows through three matrices of 1024 × 3584, at 0.4 of 149.7 and of 125 TFLOP/s, and
    // four launches of 5 µs.
    const double flops = 2.0 * 8192 * 6 * 1024 * 3584;
    EXPECT_NEAR(double(profile.new_kind.expert), flops / (0.4 * 149.7e3) + 20e3, 2);
    EXPECT_NEAR(double(profile.old_kind.expert), flops / (0.4 * 125e3) + 20e3, 2);
    // 2·8192 rows of 1024 FP16 numbers over 0.7 of 100 Gbit/s, and 30 µs.
    EXPECT_NEAR(double(profile.exchange), 2.0 * 8192 * 1024 * 2 / (0.7 * 12.5) + 30e3, 2);
    // On the new GPU: 2.5 h² + 24 h parameters, and half of all pairs.
    const double attention =
        8192 * (2 * (2.5 * 1024 * 1024 + 24 * 1024.0) + 2.0 * 8192 * 1024) / (0.4 * 149.7e3);
    EXPECT_NEAR(double(*profile.new_kind.attention), attention + 13 * 5e3, 2);
    // What is not the experts' is 2.1 billion parameters less 24 · 8 of 11 million, and embeddings.
    EXPECT_NEAR(double(profile.expert_sync), 3.0 * 1024 * 3584 * 2 / (0.7 * 12.5), 2);
}

TEST_F(ModelledProfile, OldGpusFallBehindOnAttentionAndNotOnExperts) {
    double before = 0;
    for (const int tokens : {4096, 8192, 16384, 32768}) {
        const TrainingProfile profile = modelled_profile(setup(tokens));
        EXPECT_GT(ratio(profile), before) << tokens;
        before = ratio(profile);
        EXPECT_NEAR(double(profile.old_kind.expert) / double(profile.new_kind.expert), 1.2, 0.01);
    }
    // Were the old kind's kernels fused too, only the peaks would differ.
    ModelledSetup fused = setup(32768);
    fused.old_gpus.device.attention->kernels = AttentionKernels::fused;
    EXPECT_LT(ratio(modelled_profile(fused)), 1.21);
    EXPECT_GT(before, 2);
}

TEST_F(ModelledProfile, IsReadBackFromItsToml) {
    const TrainingProfile profile = modelled_profile(setup(16384, "mixtral-w1"));
    const std::string text = to_toml(profile);
    EXPECT_EQ(to_toml(read_profile(text, "shown")), text);
    EXPECT_TRUE(plan(profile, {}).rivals);
}

TEST_F(ModelledProfile, MemoryBoundsWhatAGpuHolds) {
    const TrainingProfile profile = modelled_profile(setup(4096));
    // 0.9 of 16 GB hold at most 81 experts of 11 million parameters with their states.
    EXPECT_LT(*profile.old_kind.capacity, 82);
    EXPECT_GT(*profile.old_kind.capacity, 60);
    EXPECT_GT(*profile.new_kind.capacity, *profile.old_kind.capacity);
    EXPECT_LT(*modelled_profile(setup(32768)).old_kind.capacity, *profile.old_kind.capacity);
    EXPECT_EQ(*modelled_profile(setup(1 << 24)).old_kind.capacity, 0);
}

// Three pieces, by hand. Dispatches of 1 s end at 1, 2, 3; experts of 2 s at 3, 5, 7; combines at
// 4, 6, 8.
TEST_F(ModelledProfile, PiecesFollowOneAnother) {
    for (const Links links : {Links::shared, Links::opposite}) {
        EXPECT_DOUBLE_EQ(in_pieces_s(3, 6, {}, links, 3), 8);
        EXPECT_DOUBLE_EQ(in_pieces_s(3, 6, {}, links, 1), 12);
        // 0.3 s of a dispatch's 3 and 0.6 of experts' 6 are each piece's: 1.2 and 2.4 s.
        EXPECT_DOUBLE_EQ(in_pieces_s(3, 6, {.message = 0.3, .launch = 0.6}, links, 3), 9.6);
    }
    // Dispatches of 2 s, experts of 1: combines wait for all dispatches where they share links.
    EXPECT_DOUBLE_EQ(in_pieces_s(6, 3, {}, Links::shared, 3), 12);
    EXPECT_DOUBLE_EQ(in_pieces_s(6, 3, {}, Links::opposite, 3), 9);
}

TEST_F(ModelledProfile, PiecesHideExchangesUntilTheyCostTooMuch) {
    EXPECT_DOUBLE_EQ(pipelined_s(1, 4, {.launch = 4}, Links::shared), 6);  // one piece
    EXPECT_DOUBLE_EQ(pipelined_s(1, 4, {}, Links::shared), 4 + 2 / 16.0);
    EXPECT_DOUBLE_EQ(pipelined_s(4, 1, {}, Links::shared), 8);  // the link decides
    EXPECT_DOUBLE_EQ(pipelined_s(4, 1, {}, Links::opposite), 4 + 4 / 16.0 + 1 / 16.0);
    // Two pieces: 4.2 + 2 · 0.5; four would take 4.6 + 2 · 0.25.
    EXPECT_DOUBLE_EQ(pipelined_s(1, 4, {.launch = 0.2}, Links::shared), 5.1);
    EXPECT_DOUBLE_EQ(exposed_share(1, 4, 1, {.message = 1, .launch = 4}, Links::shared), 1);
    EXPECT_EQ(exposed_share(0, 4, 3, {}, Links::shared), 0);
}

// No slower than one phase after the other, which is among the degrees, no faster than what a GPU
// computes or its links carry.
TEST_F(ModelledProfile, PiecesTakeNoLongerThanTheWholeNorLessThanEitherAlone) {
    std::mt19937 random(7);
    const auto draw = [&](double most) {
        return std::uniform_real_distribution<>(0.01, most)(random);
    };
    for (int i = 0; i < 1000; ++i) {
        const double exchange = draw(4), experts = draw(8);
        const PieceSeconds piece{.message = draw(0.2), .launch = draw(0.2)};
        const double shared = pipelined_s(exchange, experts, piece, Links::shared),
                     opposite = pipelined_s(exchange, experts, piece, Links::opposite);
        EXPECT_LE(shared, (2 * exchange + experts) * (1 + 1e-12));
        EXPECT_GE(shared * (1 + 1e-12), std::max(experts, 2 * exchange));
        EXPECT_GE(opposite * (1 + 1e-12), std::max(experts, exchange));
        EXPECT_LE(opposite, shared * (1 + 1e-12));
        const double exposed = exposed_share(exchange, experts, 3, piece, Links::shared);
        EXPECT_LE(exposed, 1 + 1e-12);
        EXPECT_GE(
            exposed * 4 * exchange * (1 + 1e-9),
            std::max(0.0, 2 * exchange - experts) + std::max(0.0, 2 * exchange - 3 * experts));
    }
}

TEST_F(ModelledProfile, SaysWhatIsWrong) {
    const auto complaint = [](const auto& f) {
        try {
            f();
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    for (const char* text : {"a40", "a40:", "a40:0", "a40:x", "a40:5000", ":3", "a40:1.5"})
        EXPECT_THAT(complaint([&] { parse_gpus(text, "--new"); }), HasSubstr("as a40:6")) << text;
    EXPECT_THAT(complaint([] { parse_gpus("a4O:6", "--new"); }), HasSubstr("did you mean 'a40'"));
    EXPECT_THAT(complaint([] { model_shape("gpt"); }), HasSubstr("mixtral-w1, mixtral-w2"));
    ModelledSetup silent = setup(4096);
    silent.old_gpus = parse_gpus("rtx3090:2", "--old");
    EXPECT_THAT(complaint([&] { modelled_profile(silent); }), HasSubstr("computes attention"));
    EXPECT_THAT(complaint([] { modelled_profile(setup(2'000'000'000)); }),
                HasSubstr("shorter sequences"));
}

}  // namespace
}  // namespace assay::hetermoe
