// Adapters and subspaces beneath maps that choose: gradients against autograd's, updates against
// Adam by hand, target rows that ran by themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "impls/dr_post_training/method/choosing.hpp"
#include "impls/dr_post_training/method/meso.hpp"
#include "impls/nn/lora.hpp"
#include "tests/dr_post_training/method/small_rows.hpp"

namespace assay::dr_post_training {
namespace {

constexpr double close = 1e-4;

std::string by_map(const nn::Place& place) {
    return std::to_string(place.layer) + "/" + std::string(place.name);
}

double difference(const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}
double largest(const at::Tensor& a) { return a.abs().max().item<double>(); }

struct Rows {
    std::vector<nn::ScoredRow> general = small_rows(5, 1), target = small_rows(2, 9);
    std::vector<double> shares = shares_of(nn::batch_of(general).scored_tokens, LossMean::token);
};

SelectingOptions choosing(Scoring backend, const std::vector<double>& shares, std::size_t k) {
    SelectingOptions options;
    options.backend = backend;
    options.group_of = by_map;
    options.choose = [shares, k](const std::string&, const GroupStatistics& seen) {
        return update_of(SetKind::topk, {.k = k}, shares, seen);
    };
    return options;
}

void zero(std::vector<std::unique_ptr<nn::ParameterBlock>>& blocks) {
    for (auto& block : blocks) block->zero_grad();
}

/// Adapters of which none is zero.
nn::Lora moved_lora(nn::Decoder& decoder) {
    nn::Lora lora(decoder, {.rank = 3, .alpha = 6, .dropout = 0, .seed = 5});
    const at::NoGradGuard no_grad;
    for (auto& block : lora.blocks()) block->values().add_(at::linspace(-0.1, 0.1, block->count()));
    return lora;
}

TEST(LoraBeneathSelectingMaps, EachAdapterLearnsFromTheRowsItChose) {
    const Rows rows;
    nn::Decoder decoder = small_decoder(nn::small_llama());
    nn::Lora lora = moved_lora(decoder);
    const StepModel model{decoder, at::kFloat, LossMean::token,
                          [&](nn::Maps& inner) { return lora.over(inner); }};
    SelectingMaps maps(choosing(Scoring::pip, rows.shares, 2));
    zero(lora.blocks());
    selecting_step(model, maps, Schedule::one_pass, rows.general, rows.target)->backward();
    std::vector<at::Tensor> found;
    for (auto& block : lora.blocks()) found.push_back(block->grad().clone());
    const auto decisions = maps.decisions();
    ASSERT_EQ(decisions.size(), 28U);  // two of each of seven maps, two layers
    std::set<std::vector<std::size_t>> choices;
    for (int layer = 0; layer < 2; ++layer) {
        for (const auto& [name, shape] : layer_parameters(decoder.config())) {
            if (shape.size() != 2) continue;
            for (const char which : {'a', 'b'}) {
                const auto& update =
                    decisions.at(std::to_string(layer) + "/" + name + "." + which).update;
                choices.insert(*update.selected);
                std::vector<nn::ScoredRow> subset;
                for (const auto row : *update.selected) subset.push_back(rows.general[row]);
                ASSERT_EQ(subset.size(), 2U);
                for (auto& block : lora.blocks()) block->grad().zero_();
                plain_step(model, subset)->backward();
                const auto expected = lora.adapter(layer, name, which).grad().clone();
                const auto& block = *lora.blocks()[static_cast<std::size_t>(layer)];
                // The leaf's place in its block.
                const auto offset =
                    lora.adapter(layer, name, which).storage_offset() - block[0].storage_offset();
                const auto here = found[static_cast<std::size_t>(layer)]
                                      .narrow(0, offset, expected.numel())
                                      .view(expected.sizes());
                EXPECT_LT(difference(here, expected), close * largest(expected)) << name << which;
            }
        }
    }
    EXPECT_GT(choices.size(), 1U);
}

TEST(MesoTest, StartsAsTheModelAndItsGradientIsTheProjectedOne) {
    const Rows rows;
    nn::Decoder whole = small_decoder(nn::small_llama()),
                decoder = small_decoder(nn::small_llama());
    plain_step({whole, at::kFloat, LossMean::token, {}}, rows.general)->backward();
    Meso meso(decoder, {.outputs = 3, .inputs = 5, .redraw_every = 2, .seed = 7});
    EXPECT_TRUE(decoder.blocks()[1]->frozen());
    EXPECT_FALSE(decoder.blocks()[0]->frozen());
    zero(meso.blocks());
    const StepModel model{decoder, at::kFloat, LossMean::token,
                          [&](nn::Maps& inner) { return meso.over(inner); }};
    const auto step = plain_step(model, rows.general);
    EXPECT_NEAR(step->loss(),
                plain_step({whole, at::kFloat, LossMean::token, {}}, rows.general)->loss(), 1e-5);
    step->backward();
    for (int layer = 0; layer < 2; ++layer) {
        const std::string in = "layer" + std::to_string(layer) + "/";
        for (const auto& [name, shape] : layer_parameters(decoder.config())) {
            const auto& gradient = whole.parameter(in + name).grad();
            const auto expected = shape.size() == 2
                                      ? at::mm(at::mm(meso.outputs_of(layer, name).t(), gradient),
                                               meso.inputs_of(layer, name))
                                      : gradient;
            EXPECT_LT(difference(meso.coordinates(layer, name).grad(), expected),
                      close * largest(expected))
                << in << name;
        }
    }
    EXPECT_LT(difference(decoder.blocks()[0]->grad(), whole.blocks()[0]->grad()),
              close * largest(whole.blocks()[0]->grad()));
    EXPECT_THROW(meso.outputs_of(0, "attention_norm"), std::out_of_range);
    EXPECT_THROW(meso.coordinates(0, "nothing"), std::out_of_range);
}

TEST(MesoTest, MomentsMoveAsTheWholeProductSays) {
    at::manual_seed(3);
    const auto options = at::TensorOptions().dtype(at::kDouble);
    const auto outputs = at::randn({3, 3}, options), inputs = at::randn({4, 4}, options);
    const Moments old{at::randn({3, 4}, options), at::rand({3, 4}, options) + 0.1};
    const Moments now = moved(old, outputs, inputs);
    const auto product = at::kron(outputs, inputs);  // on a row-major [a, b]
    auto first = at::mv(product, old.first.reshape({-1}));
    first = first * (old.first.norm() / first.norm());
    auto second = at::mv(product * product, old.second.reshape({-1}));
    second = second * (old.second.norm() / second.norm());
    EXPECT_LT(difference(now.first.reshape({-1}), first), 1e-12);
    EXPECT_LT(difference(now.second.reshape({-1}), second), 1e-12);
    // A second moment is never nothing: a step divides by its root.
    const Moments none = moved({old.first, at::zeros({3, 4}, options)}, outputs, inputs);
    EXPECT_EQ(none.second.min().item<double>(), 1e-10);
}

// Five steps, a new subspace after every second, in double and by hand.
TEST(MesoTest, UpdatesAreAdamsInTheSubspace) {
    const Rows rows;
    nn::Decoder decoder = small_decoder(nn::small_llama());
    nn::Decoder whole = small_decoder(nn::small_llama());
    Meso meso(decoder, {.outputs = 4, .inputs = 4, .redraw_every = 2, .seed = 7});
    const StepModel model{decoder, at::kFloat, LossMean::token,
                          [&](nn::Maps& inner) { return meso.over(inner); }};
    constexpr double rate = 0.02, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    const auto wide = [](const at::Tensor& one) { return one.detach().to(at::kDouble); };
    const std::string map = "down", full = "layer1/down";
    auto expected = wide(decoder.parameter(full));
    Moments moments;
    at::Tensor outputs, inputs;
    for (int step = 0; step < 5; ++step) {
        for (auto& block : whole.blocks()) block->zero_grad();
        {  // the gradient of the whole weight, where the training is now
            const at::NoGradGuard no_grad;
            for (int layer = 0; layer < 2; ++layer)
                for (const auto& [name, shape] : layer_parameters(decoder.config())) {
                    const std::string each = "layer" + std::to_string(layer) + "/" + name;
                    whole.parameter(each).detach().copy_(decoder.parameter(each));
                }
            whole.blocks()[0]->values().copy_(decoder.blocks()[0]->values());
        }
        plain_step({whole, at::kFloat, LossMean::token, {}}, rows.general)->backward();

        meso.begin(step);
        const auto now_outputs = wide(meso.outputs_of(1, map)),
                   now_inputs = wide(meso.inputs_of(1, map));
        const auto low =
            at::mm(at::mm(now_outputs.t(), wide(whole.parameter(full).grad())), now_inputs);
        if (step == 0)
            moments = {at::zeros_like(low), at::zeros_like(low)};
        else if (step % 2 == 0)
            moments =
                moved(moments, at::mm(now_outputs.t(), outputs), at::mm(now_inputs.t(), inputs));
        EXPECT_EQ(
            step > 0 && difference(now_outputs, outputs.defined() ? outputs : now_outputs) > 0,
            step > 0 && step % 2 == 0);
        outputs = now_outputs;
        inputs = now_inputs;
        moments.first = beta1 * moments.first + (1 - beta1) * low;
        moments.second = beta2 * moments.second + (1 - beta2) * low * low;
        const auto m = moments.first / (1 - std::pow(beta1, step + 1));
        const auto v = moments.second / (1 - std::pow(beta2, step + 1));
        expected = expected - rate * at::mm(at::mm(outputs, m / (v.sqrt() + epsilon)), inputs.t());

        zero(meso.blocks());
        decoder.blocks()[0]->zero_grad();
        plain_step(model, rows.general)->backward();
        for (auto& block : meso.blocks())
            nn::adam_update(*block, step + 1, {rate, beta1, beta2, epsilon});
        nn::adam_update(*decoder.blocks()[0], step + 1, {rate, beta1, beta2, epsilon});
        meso.apply();
        EXPECT_LT(difference(decoder.parameter(full), expected), 1e-3 * rate) << step;
        EXPECT_EQ(largest(meso.coordinates(1, map)), 0);
        EXPECT_LT(difference(decoder.parameter("layer1/ffn_norm"), meso.coordinates(1, "ffn_norm")),
                  1e-9);
    }
    EXPECT_GT(difference(decoder.parameter(full), small_decoder(nn::small_llama()).parameter(full)),
              rate);
}

TEST(MesoBeneathSelectingMaps, ChoosesByProjectedGradientsAndLearnsFromTheChosen) {
    const Rows rows;
    nn::Decoder decoder = small_decoder(nn::small_llama());
    Meso meso(decoder, {.outputs = 4, .inputs = 4, .redraw_every = 9, .seed = 7});
    const StepModel model{decoder, at::kFloat, LossMean::token,
                          [&](nn::Maps& inner) { return meso.over(inner); }};
    const auto gradient = [&](const std::vector<nn::ScoredRow>& of, LossMean mean) {
        zero(meso.blocks());
        decoder.blocks()[0]->zero_grad();
        StepModel with = model;
        with.mean = mean;
        plain_step(with, of)->backward();
        return meso.coordinates(1, "up").grad().clone();
    };
    SelectingMaps maps(choosing(Scoring::gip, rows.shares, 2));
    zero(meso.blocks());
    decoder.blocks()[0]->zero_grad();
    selecting_step(model, maps, Schedule::one_pass, rows.general, rows.target)->backward();
    const auto found = meso.coordinates(1, "up").grad().clone();
    const auto decision = maps.decisions().at("1/up");
    const auto target = gradient(rows.target, LossMean::example);
    std::vector<nn::ScoredRow> chosen;
    for (std::size_t b = 0; b < rows.general.size(); ++b) {
        const auto alone = gradient({rows.general[b]}, LossMean::token);
        EXPECT_NEAR(decision.statistics.target.scores[b], (alone * target).sum().item<double>(),
                    close * largest(target) * largest(alone) * 16);
        if (decision.update.weights[b] > 0) chosen.push_back(rows.general[b]);
    }
    ASSERT_EQ(chosen.size(), 2U);
    EXPECT_LT(difference(found, gradient(chosen, LossMean::token)), close * largest(found));
}

TEST(CachedTarget, GivesWhatMergedRowsGive) {
    const Rows rows;
    for (const auto& config : {nn::small_llama(), nn::small_gpt2()}) {
        nn::Decoder decoder = small_decoder(config);
        const StepModel model{decoder, at::kFloat, LossMean::token, {}};
        for (const auto backend :
             {Scoring::pip, Scoring::gip, Scoring::direct, Scoring::compressed}) {
            for (const auto set : {SetKind::topk, SetKind::greedy, SetKind::ball}) {
                auto options = choosing(backend, rows.shares, 2);
                options.gram = set != SetKind::topk;
                options.target_weights = set == SetKind::ball;
                options.choose = [&](const std::string&, const GroupStatistics& seen) {
                    return update_of(set, {.k = 2, .eta = 0.1}, rows.shares, seen);
                };
                std::vector<std::vector<at::Tensor>> gradients;
                std::vector<double> scores;
                for (const auto targets : {Targets::merged, Targets::cached}) {
                    SelectingMaps maps(options);
                    gradients.push_back(gradients_of(decoder, [&] {
                        selecting_step(model, maps, Schedule::one_pass, rows.general, rows.target,
                                       false, targets)
                            ->backward();
                    }));
                    scores.push_back(maps.decisions().at("1/up").statistics.target.scores.front());
                }
                EXPECT_LT(relative_difference(gradients[1], gradients[0]), close)
                    << to_string(backend) << " " << to_string(set);
                EXPECT_NEAR(scores[1], scores[0], close * std::abs(scores[0]));
                EXPECT_NE(scores[0], 0);
            }
        }
    }
}

TEST(CachedTarget, LeavesNoGradientAndIsForgotten) {
    const Rows rows;
    nn::Decoder decoder = small_decoder(nn::small_llama());
    const StepModel model{decoder, at::kFloat, LossMean::token, {}};
    SelectingMaps maps(choosing(Scoring::pip, rows.shares, 2));
    // The constructor runs the target's rows there and back.
    std::unique_ptr<TrainingStep> step;
    const auto after_target = gradients_of(decoder, [&] {
        step = selecting_step(model, maps, Schedule::one_pass, rows.general, rows.target, false,
                              Targets::cached);
    });
    for (const auto& gradient : after_target) EXPECT_EQ(largest(gradient), 0);
    step->backward();
    // A step without target rows has nothing to score against.
    step = selecting_step(model, maps, Schedule::one_pass, rows.general, {});
    step->backward();
    for (const auto& [group, decision] : maps.decisions())
        for (const double score : decision.statistics.target.scores) EXPECT_EQ(score, 0) << group;
}

}  // namespace
}  // namespace assay::dr_post_training
