#include "impls/rl/recipes/reward_model.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <stdexcept>

#include "impls/rl/recipes/update.hpp"

namespace assay::rl {

RewardModel::RewardModel(const nn::DecoderConfig& config, std::uint64_t seed)
    : trunk_(config, seed), head_(config.width) {
    if (config.vocabulary != 256) throw std::invalid_argument("the model's tokens are not bytes");
}

at::Tensor RewardModel::worth(std::span<const std::string> texts) const {
    std::size_t longest = 0;
    for (const std::string& text : texts) {
        if (text.empty()) throw std::invalid_argument("a text without a byte");
        longest = std::max(longest, text.size());
    }
    const auto count = static_cast<std::int64_t>(texts.size());
    const auto whole = at::TensorOptions().dtype(at::kLong);
    auto tokens = at::zeros({count, static_cast<std::int64_t>(longest)}, whole);
    auto last = at::zeros({count, 1, 1}, whole);
    for (std::int64_t row = 0; row < count; ++row) {
        const std::string& text = texts[static_cast<std::size_t>(row)];
        std::transform(text.begin(), text.end(),
                       tokens.mutable_data_ptr<std::int64_t>() + row * tokens.size(1),
                       [](char byte) { return static_cast<unsigned char>(byte); });
        last.mutable_data_ptr<std::int64_t>()[row] = static_cast<std::int64_t>(text.size()) - 1;
    }
    nn::Maps plain;
    const auto hidden = trunk_.hidden_states(tokens, plain).view({count, tokens.size(1), -1});
    return head_(hidden.gather(1, last.expand({count, 1, hidden.size(2)})).squeeze(1));
}

std::vector<double> RewardModel::worths(std::span<const std::string> texts) const {
    at::NoGradGuard no_grad;
    const auto numbers = worth(texts).contiguous();
    const float* const data = numbers.const_data_ptr<float>();
    return {data, data + numbers.numel()};
}

std::vector<nn::TrainedBlock> RewardModel::blocks() {
    auto blocks = blocks_of(trunk_);
    blocks.emplace_back(&head_.block());
    return blocks;
}

Judge judge_by(const RewardModel& model) {
    return [&model](std::span<const Question> questions, const Rollouts& drawn) {
        const auto each = drawn.answers.size() / questions.size();
        std::vector<std::string> texts;
        for (std::size_t row = 0; row < drawn.answers.size(); ++row)
            texts.push_back(questions[row / each].prompt + drawn.answers[row]);
        return model.worths(texts);
    };
}

at::Tensor preference_loss(const RewardModel& model, std::span<const Preference> pairs) {
    std::vector<std::string> texts;
    for (const Preference& pair : pairs) texts.push_back(pair.better);
    for (const Preference& pair : pairs) texts.push_back(pair.worse);
    const auto sides = model.worth(texts).chunk(2);
    return at::softplus(sides[1] - sides[0]).mean();
}

at::Tensor label_loss(const RewardModel& model, std::span<const Labelled> labelled) {
    std::vector<std::string> texts;
    std::vector<float> sign;
    for (const auto& [text, yes] : labelled) {
        texts.push_back(text);
        sign.push_back(yes ? -1.0F : 1.0F);
    }
    return at::softplus(model.worth(texts) * at::tensor(sign)).mean();
}

void train_reward_model(RewardModel& model, std::int64_t steps, double rate,
                        const std::string& name, nn::StateKeeper& states,
                        const std::function<at::Tensor(std::int64_t step)>& loss) {
    nn::TrainingOptions options;
    options.steps = steps;
    options.learning_rate = rate;
    options.warmup = 0.1;
    options.decay_to_zero = true;
    nn::TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t step) {
        const auto of_step = loss(step);
        return nn::TrainingStep{of_step, of_step.item<double>()};
    };
    nn::train(name, model.blocks(), options, callbacks, states, 0);
}

}  // namespace assay::rl
