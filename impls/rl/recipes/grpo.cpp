#include "impls/rl/recipes/grpo.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "impls/rl/method/advantages.hpp"
#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::rl {
namespace {

double undecided(const std::vector<double>& advantages, int group) {
    const auto size = static_cast<std::ptrdiff_t>(group);
    std::ptrdiff_t without = 0;
    for (auto first = advantages.begin(); first != advantages.end(); first += size)
        without += std::all_of(first, first + size, [](double a) { return a == 0; });
    return static_cast<double>(without * size) / static_cast<double>(advantages.size());
}

}  // namespace

at::Tensor weighted_losses(const at::Tensor& now, const UpdateRows& rows,
                           const GrpoOptions& options) {
    auto losses = clipped_losses(now, rows.rollouts.logprobs, rows.advantages, options.clipping);
    if (rows.reference.defined()) losses = losses + options.kl * divergences(now, rows.reference);
    return losses * averaging_weights(rows.rollouts.answered, options.averaging);
}

Grpo::Grpo(nn::Decoder& policy, const GrpoOptions& options, Gradients gradients, Judge judge)
    : policy_(&policy),
      options_(options),
      gradients_(std::move(gradients)),
      judge_(std::move(judge)),
      updater_(blocks_of(policy), options.clip, options.adam, options.warmup) {
    if (options_.kl != 0) reference_ = copy_of(policy);
    if (!gradients_)
        gradients_ = [this](nn::Decoder& of, const UpdateRows& rows) {
            const auto now = log_probabilities(of, rows.rollouts.tokens);
            weighted_losses(now, rows, options_).sum().backward();
        };
}

Round Grpo::round(std::span<const Question> questions) {
    statistics::CounterDraws seeds(options_.seed + static_cast<std::uint64_t>(rounds_++) * 4096);
    Drawing drawing;
    drawing.answers = options_.answers;
    drawing.longest = options_.longest;
    drawing.seed = seeds.next();
    const Rollouts drawn = draw(*policy_, questions, drawing, judge_);
    const auto advantages = group_relative(drawn.rewards, options_.answers);

    Round round;
    round.reward = std::accumulate(drawn.rewards.begin(), drawn.rewards.end(), 0.0) /
                   static_cast<double>(drawn.rewards.size());
    round.undecided_groups = undecided(advantages, options_.answers);
    round.drawn_tokens = drawn.answered.sum().item<std::int64_t>();
    at::Tensor reference;
    if (reference_) {
        at::NoGradGuard no_grad;
        reference = log_probabilities(*reference_, drawn.tokens);
        round.divergence = divergences(drawn.logprobs, reference)
                               .masked_select(drawn.answered)
                               .mean()
                               .item<double>();
    }
    const auto by_row = at::tensor(advantages).to(at::kFloat).unsqueeze(1);
    const auto before = updater_.updates();
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
        for (const auto& picked : batches(drawn.rows(), options_.rows_a_step, seeds.next())) {
            const auto index = at::tensor(picked);
            const UpdateRows rows{drawn.rows(picked), by_row.index_select(0, index),
                                  reference_ ? reference.index_select(0, index) : at::Tensor()};
            updater_.update([&] { gradients_(*policy_, rows); });
        }
    }
    round.updates = updater_.updates() - before;
    return round;
}

}  // namespace assay::rl
