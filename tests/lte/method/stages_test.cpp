// The two stages on a model of two small layers and a text of a few words.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "impls/lte/method/grouping.hpp"
#include "impls/lte/method/sparsity.hpp"
#include "impls/lte/method/stages.hpp"
#include "impls/nn/training/checkpoint_files.hpp"
#include "impls/nn/training/language_model.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

constexpr double tau = 0.5;
const RouterOptions start{.seed = 5};

nn::DecoderConfig config() {
    nn::DecoderConfig c;
    c.layers = 2;
    c.width = 32;
    c.hidden = 128;
    c.heads = c.kv_heads = 2;
    c.head_width = 16;
    c.context = 32;
    return c;
}

const nn::TokenData& text() {
    static const nn::TokenData data = [] {
        std::string all;
        for (int i = 0; i < 1500; ++i) {
            all += i % 3 == 0 ? "the quick brown fox " : "a slow old dog ";
            all += std::to_string(i * 7919 % 100) + " times jumps over it.\n";
        }
        return nn::TokenData::from_text(all, nn::Tokenizer::bytes(), 0.1, 32);
    }();
    return data;
}

nn::LanguageModelTraining training(std::int64_t steps, std::uint64_t seed) {
    nn::LanguageModelTraining t;
    t.options.steps = steps;
    t.options.learning_rate = 3e-3;
    t.sequences = 8;
    t.seed = seed;
    return t;
}

void train_dense(nn::Decoder& decoder, std::int64_t steps) {
    nn::NoState nothing;
    nn::DenseFeedForward dense;
    nn::train_language_model("base", decoder, dense, text(), training(steps, 1), nothing);
}

nn::Decoder trained() {
    static const auto weights = [] {
        nn::Decoder decoder(config(), 1);
        train_dense(decoder, 150);
        std::vector<at::Tensor> values;
        for (auto& block : decoder.blocks())
            for (const auto& part : block->state()) values.push_back(part.clone());
        return values;
    }();
    nn::Decoder decoder(config(), 1);
    std::size_t next = 0;
    at::NoGradGuard no_grad;
    for (auto& block : decoder.blocks())
        for (const auto& part : block->state()) part.copy_(weights[next++]);
    return decoder;
}

double measured_sparsity(const nn::Decoder& decoder, const Routers& routers) {
    at::NoGradGuard no_grad;
    LteFeedForward hard(routers, tau, LteMode::hard);
    SparsityStatistics statistics(config().layers);
    for (const auto& tokens : text().held_out_batches(8, 32)) {
        decoder.loss(tokens, hard);
        for (int layer = 0; layer < config().layers; ++layer)
            statistics.add(layer, hard.scores()[static_cast<std::size_t>(layer)] > tau);
    }
    return statistics.mean();
}

double held_out(const nn::Decoder& decoder, nn::FeedForward& ffn) {
    return nn::evaluate(decoder, ffn, text(), 32).nll_nats_per_token;
}

TEST(PermuteNeurons, LeavesTheFunctionAndFurtherTrainingUnchanged) {
    auto permuted = trained(), plain = trained();
    for (int layer = 0; layer < config().layers; ++layer)
        permute_neurons(permuted, layer, random_grouping(config().hidden, 32, 7));
    const auto before = plain.ffn(0).up, after = permuted.ffn(0).up;
    EXPECT_GT((before - after).abs().max().item<double>(), 1e-3);
    const auto tokens = text().batch(3, 0, 4);
    nn::DenseFeedForward dense;
    const auto difference = [&] {
        at::NoGradGuard no_grad;
        return (plain.logits(tokens.narrow(1, 0, 32), dense) -
                permuted.logits(tokens.narrow(1, 0, 32), dense))
            .abs()
            .max()
            .item<double>();
    };
    EXPECT_LT(difference(), 1e-5);
    // The moments came along: both models take nearly the same path.
    nn::NoState nothing;
    for (auto* decoder : {&plain, &permuted}) {
        auto options = training(5, 2);
        options.options.learning_rate = 1e-4;
        nn::train_language_model("more", *decoder, dense, text(), options, nothing);
    }
    EXPECT_LT(difference(), 1e-3);
    EXPECT_THROW(permute_neurons(plain, 0, random_grouping(64, 32, 1)), UserError);
}

TEST(PermuteNeurons, MovesMomentsWithTheirValues) {
    auto decoder = trained();
    const auto grouping = random_grouping(config().hidden, 32, 7);
    const auto order = at::tensor(grouping.order, at::kLong);
    auto& block = *decoder.blocks()[2];
    const auto down = decoder.parameter("layer1/down");
    const auto moment = [&] {
        return block.second_moment()
            .narrow(0, down.storage_offset(), down.numel())
            .view(down.sizes())
            .clone();
    };
    const auto before = moment();
    permute_neurons(decoder, 1, grouping);
    EXPECT_TRUE(moment().equal(before.index_select(1, order)));
    EXPECT_FALSE(moment().equal(before));
}

TEST(Stages, RemediedScheduleLandsNearItsTarget) {
    for (const double target : {0.3, 0.7}) {
        auto decoder = trained();
        for (int layer = 0; layer < config().layers; ++layer)
            permute_neurons(decoder, layer, balanced_kmeans(decoder.ffn(layer).gate, 32));
        Routers routers(config(), start);
        TargetSchedule schedule({.target = target});
        nn::NoState nothing;
        train_stage1(decoder, routers, {}, schedule, text(), training(120, 2), nothing);
        EXPECT_NEAR(measured_sparsity(decoder, routers), target, 0.1);

        LteFeedForward hard(routers, tau, LteMode::hard);
        const double before = held_out(decoder, hard);
        train_stage2(decoder, routers, tau, text(), training(60, 3), nothing);
        EXPECT_LT(held_out(decoder, hard), before);
    }
}

// The finding about the loss as published: the barrier at tau keeps every score on the side on
// which the router's initial weights put it, so eta has little to say.
TEST(Stages, PublishedLossKeepsTheInitialSigns) {
    std::vector<double> sparsity;
    for (const double eta : {0.0, 2.0}) {
        auto decoder = trained();
        Routers routers(config(), {.bias = 2});
        PublishedSchedule schedule(eta);
        nn::NoState nothing;
        train_stage1(decoder, routers, {}, schedule, text(), training(120, 2), nothing);
        // Every score began above the threshold.
        EXPECT_LT(measured_sparsity(decoder, routers), 0.05) << eta;
    }
}

TEST(Stages, StageTwoLeavesTheRoutersAlone) {
    auto decoder = trained();
    Routers routers(config(), {.init_scale = 3});
    const auto before = routers.blocks()[1]->digest(), model = decoder.blocks()[1]->digest();
    nn::NoState nothing;
    train_stage2(decoder, routers, tau, text(), training(3, 3), nothing);
    EXPECT_EQ(routers.blocks()[1]->digest(), before);
    EXPECT_NE(decoder.blocks()[1]->digest(), model);
}

TEST(Stages, RoutersLearnAtARateOfTheirOwn) {
    std::vector<double> moved;
    for (const double rate : {1.0, 20.0}) {
        auto decoder = trained();
        Routers routers(config(), start);
        const auto before = routers.blocks()[0]->values().clone();
        TargetSchedule schedule({.target = 0.5});
        nn::NoState nothing;
        train_stage1(decoder, routers, {.router_rate = rate}, schedule, text(), training(3, 2),
                     nothing);
        moved.push_back((routers.blocks()[0]->values() - before).abs().mean().item<double>());
    }
    EXPECT_GT(moved[1], 10 * moved[0]);
}

TEST(Stages, SeparabilityOnDetachedInputsLeavesTheTrunkAlone) {
    for (const bool detached : {false, true}) {
        auto decoder = trained();
        Routers routers(config(), start);
        TargetSchedule schedule({.target = 0.5});
        nn::NoState nothing;
        std::vector<std::int64_t> probed;
        train_stage1(decoder, routers, {.detached_separability = detached, .probes = 3}, schedule,
                     text(), training(9, 2), nothing, [&](const Stage1Step& s) {
                         if (!s.gradients) return;
                         probed.push_back(s.step);
                         EXPECT_GT(s.gradients->task_trunk, 0);
                         EXPECT_GT(s.gradients->task_routers, 0);
                         EXPECT_GT(s.gradients->separability_routers, 0);
                         EXPECT_EQ(s.gradients->separability_trunk == 0, detached);
                     });
        EXPECT_EQ(probed, (std::vector<std::int64_t>{0, 4, 8}));
    }
}

struct Killed {};

// Dies when asked to save for the n-th time, once the state is saved.
class DyingKeeper : public nn::FolderState {
  public:
    DyingKeeper(const std::filesystem::path& folder, int saves)
        : nn::FolderState(folder), left_(saves) {}
    void save(const std::string& name, const std::function<void(std::ostream&)>& write) override {
        nn::FolderState::save(name, write);
        if (--left_ == 0) throw Killed();
    }

  private:
    int left_;
};

// Digests of all blocks after both stages, and what was told of stage 1.
struct Outcome {
    std::vector<std::uint64_t> digests;
    std::vector<double> curve, probed;
    bool operator==(const Outcome&) const = default;
};

Outcome both_stages(nn::StateKeeper& keeper, int probes = 3) {
    auto decoder = trained();
    Routers routers(config(), start);
    TargetSchedule schedule({.target = 0.5});
    Outcome outcome;
    auto first = training(12, 2), second = training(8, 3);
    first.checkpoint_every = second.checkpoint_every = 3;
    train_stage1(decoder, routers, {.probes = probes}, schedule, text(), first, keeper,
                 [&](const Stage1Step& s) {
                     outcome.curve.insert(outcome.curve.end(), {static_cast<double>(s.step), s.nll,
                                                                s.sparsity, s.weights.eta});
                     if (probes > 0 && s.gradients)
                         outcome.probed.push_back(s.gradients->task_trunk);
                 });
    train_stage2(decoder, routers, tau, text(), second, keeper);
    for (auto& block : decoder.blocks()) outcome.digests.push_back(block->digest());
    for (auto& block : routers.blocks()) outcome.digests.push_back(block->digest());
    return outcome;
}

TEST(Stages, ProbesChangeNoBit) {
    nn::NoState nothing;
    const auto with = both_stages(nothing), without = both_stages(nothing, 0);
    EXPECT_EQ(with.probed.size(), 3U);
    EXPECT_EQ(with.digests, without.digests);
    EXPECT_EQ(with.curve, without.curve);
}

TEST(Stages, GoOnBitForBitAfterADeathInEither) {
    nn::NoState nothing;
    const auto undisturbed = both_stages(nothing);
    for (const int saves : {2, 4, 5}) {  // in stage 1, between the stages, in stage 2
        const auto folder =
            std::filesystem::path(::testing::TempDir()) /
            ("lte-stages-" + std::to_string(::getpid()) + "-" + std::to_string(saves));
        DyingKeeper dying(folder, saves);
        EXPECT_THROW(both_stages(dying), Killed);
        nn::FolderState second_life(folder);
        EXPECT_EQ(both_stages(second_life), undisturbed) << saves;
        std::filesystem::remove_all(folder);
    }
}

}  // namespace
}  // namespace assay::lte
