#include "impls/rl/recipes/ppo.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <numeric>
#include <utility>
#include <vector>

#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::rl {
namespace {

std::vector<nn::TrainedBlock> trained(nn::Decoder& policy, ScalarHead& critic, double factor) {
    auto blocks = blocks_of(policy);
    blocks.emplace_back(&critic.block(), factor);
    return blocks;
}

/// As the mean over a round, not over an update: rows that are not answered count for nothing.
at::Tensor normalised_where(const at::Tensor& values, const at::Tensor& answered) {
    const auto counted = values.masked_select(answered);
    if (counted.numel() < 2) return values;
    const auto deviation = counted.std(/*unbiased=*/true);
    if (deviation.item<double>() == 0) return values;
    return ((values - counted.mean()) / (deviation + 1e-8)).masked_fill(answered.logical_not(), 0);
}

}  // namespace

PpoRows PpoRows::rows(std::span<const std::int64_t> picked) const {
    const auto index = at::tensor(at::ArrayRef<std::int64_t>(picked.data(), picked.size()),
                                  at::TensorOptions().dtype(at::kLong));
    const auto of = [&](const at::Tensor& tensor) { return tensor.index_select(0, index); };
    return {rollouts.rows(picked), of(reference), of(values), of(advantages), of(returns)};
}

at::Tensor token_rewards(const Rollouts& drawn, const at::Tensor& reference, double kl) {
    auto rewards = ((reference - drawn.logprobs) * kl).masked_fill(drawn.answered.logical_not(), 0);
    // The last position that is answered: the answers of a row are one stretch.
    const auto length = drawn.answered.size(1);
    const auto last =
        (at::arange(1, length + 1, drawn.answered.options().dtype(at::kLong)) * drawn.answered)
            .argmax(1, /*keepdim=*/true);
    const auto whole = at::tensor(drawn.rewards).to(at::kFloat).unsqueeze(1);
    return rewards.scatter_add_(1, last, whole);
}

TokenEstimates token_estimates(const at::Tensor& answered, const at::Tensor& rewards,
                               const at::Tensor& values, const PpoOptions& options) {
    TokenEstimates estimates{at::zeros(rewards.sizes(), rewards.options()),
                             at::zeros(rewards.sizes(), rewards.options())};
    const auto marks = answered.accessor<bool, 2>();
    const auto of_reward = rewards.accessor<float, 2>();
    const auto of_value = values.accessor<float, 2>();
    auto advantage = estimates.advantages.accessor<float, 2>();
    auto expected = estimates.returns.accessor<float, 2>();
    std::vector<double> reward, value;
    std::vector<std::int64_t> at;
    for (std::int64_t row = 0; row < rewards.size(0); ++row) {
        reward.clear(), value.clear(), at.clear();
        for (std::int64_t t = 0; t < rewards.size(1); ++t) {
            if (!marks[row][t]) continue;
            reward.push_back(of_reward[row][t]);
            value.push_back(of_value[row][t]);
            at.push_back(t);
        }
        const auto found = generalised(reward, value, options.gamma, options.lambda);
        for (std::size_t i = 0; i < at.size(); ++i) {
            advantage[row][at[i]] = static_cast<float>(found.advantages[i]);
            expected[row][at[i]] = static_cast<float>(found.returns[i]);
        }
    }
    if (options.normalised) estimates.advantages = normalised_where(estimates.advantages, answered);
    return estimates;
}

at::Tensor ppo_losses(const at::Tensor& now, const at::Tensor& values, const PpoRows& rows,
                      const PpoOptions& options) {
    const auto policy =
        clipped_losses(now, rows.rollouts.logprobs, rows.advantages, options.clipping);
    const auto critic = value_losses(values, rows.values, rows.returns, options.value_range);
    return (policy + options.value_weight * critic) *
           averaging_weights(rows.rollouts.answered, Averaging::tokens);
}

Ppo::Ppo(nn::Decoder& policy, const PpoOptions& options, Judge judge, PpoGradients gradients)
    : policy_(&policy),
      options_(options),
      judge_(std::move(judge)),
      gradients_(std::move(gradients)),
      critic_(policy.config().width),
      updater_(trained(policy, critic_, options.value_rate_factor), options.clip, options.adam,
               options.warmup),
      reference_(copy_of(policy)),
      kl_(options.kl, options.kl_target, options.kl_horizon) {
    if (!gradients_)
        gradients_ = [this](nn::Decoder& of, ScalarHead& critic, const PpoRows& rows) {
            nn::Maps plain;
            const auto now = evaluate(of, rows.rollouts.tokens, plain);
            ppo_losses(now.log_probabilities, critic(now.hidden), rows, options_).sum().backward();
        };
}

PpoRows Ppo::collect(std::span<const Question> questions, std::uint64_t seed) const {
    at::NoGradGuard no_grad;
    Drawing drawing;
    drawing.answers = options_.answers;
    drawing.longest = options_.longest;
    drawing.seed = seed;
    PpoRows rows;
    rows.rollouts = draw(*policy_, questions, drawing, judge_);
    nn::Maps plain;
    rows.reference = log_probabilities(reference_, rows.rollouts.tokens);
    rows.values = critic_(policy_->hidden_states(
        rows.rollouts.tokens.narrow(1, 0, rows.rollouts.answered.size(1)), plain));
    rows.values = rows.values.view(rows.reference.sizes());
    auto [advantages, returns] = token_estimates(
        rows.rollouts.answered, token_rewards(rows.rollouts, rows.reference, kl_.coefficient()),
        rows.values, options_);
    rows.advantages = advantages;
    rows.returns = returns;
    return rows;
}

void Ppo::update(const PpoRows& rows, std::uint64_t seed) {
    statistics::CounterDraws seeds(seed);
    for (int epoch = 0; epoch < options_.epochs; ++epoch)
        for (const auto& picked : batches(rows.count(), options_.rows_a_step, seeds.next())) {
            const PpoRows part = rows.rows(picked);
            updater_.update([&] { gradients_(*policy_, critic_, part); });
        }
}

PpoRound Ppo::finish(const PpoRows& rows) {
    const auto answers = static_cast<double>(rows.count());
    PpoRound round;
    round.reward =
        std::accumulate(rows.rollouts.rewards.begin(), rows.rollouts.rewards.end(), 0.0) / answers;
    round.divergence = (rows.rollouts.logprobs - rows.reference)
                           .masked_fill(rows.rollouts.answered.logical_not(), 0)
                           .sum()
                           .item<double>() /
                       answers;
    round.kl = kl_.coefficient();
    round.drawn_tokens = rows.rollouts.answered.sum().item<std::int64_t>();
    kl_.update(round.divergence, answers);
    return round;
}

Ppo::Seeds Ppo::next_seeds() {
    statistics::CounterDraws seeds(options_.seed + static_cast<std::uint64_t>(rounds_++) * 4096);
    const auto draws = seeds.next();
    return {draws, seeds.next()};
}

PpoRound Ppo::round(std::span<const Question> questions) {
    const auto [draws, order] = next_seeds();
    const PpoRows rows = collect(questions, draws);
    update(rows, order);
    return finish(rows);
}

}  // namespace assay::rl
