#include "impls/rl/grpo.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "impls/nn/training/training_loop.hpp"
#include "impls/rl/advantages.hpp"
#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::rl {
namespace {

nn::Decoder copy_of(const nn::Decoder& decoder) {
    nn::Decoder copy(decoder.config(), 0);
    for (std::size_t i = 0; i < copy.blocks().size(); ++i)
        copy.blocks()[i]->copy_state_from(*decoder.blocks()[i]);
    return copy;
}

/// Rows 0 … count−1 in an order that a seed decides (Fisher and Yates).
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    statistics::CounterDraws draws(seed);
    for (std::size_t left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[draws.index(static_cast<std::uint32_t>(left))]);
    return order;
}

double undecided(const std::vector<double>& advantages, int group) {
    const auto size = static_cast<std::ptrdiff_t>(group);
    std::ptrdiff_t without = 0;
    for (auto first = advantages.begin(); first != advantages.end(); first += size)
        without += std::all_of(first, first + size, [](double a) { return a == 0; });
    return static_cast<double>(without * size) / static_cast<double>(advantages.size());
}

}  // namespace

at::Tensor weighted_losses(const nn::Decoder& policy, const UpdateRows& rows,
                           const GrpoOptions& options) {
    const auto now = log_probabilities(policy, rows.rollouts.tokens);
    auto losses = clipped_losses(now, rows.rollouts.drawn_with, rows.advantages, options.clipping);
    if (rows.reference.defined()) losses = losses + options.kl * divergences(now, rows.reference);
    return losses * averaging_weights(rows.rollouts.answered, options.averaging);
}

Grpo::Grpo(nn::Decoder& policy, const GrpoOptions& options, Gradients gradients)
    : policy_(&policy), options_(options), gradients_(std::move(gradients)) {
    for (auto& block : policy.blocks()) block->zero_moments();
    if (options_.kl != 0) reference_ = copy_of(policy);
    if (!gradients_)
        gradients_ = [this](nn::Decoder& of, const UpdateRows& rows) {
            weighted_losses(of, rows, options_).sum().backward();
        };
}

Round Grpo::round(std::span<const Question> questions) {
    statistics::CounterDraws seeds(options_.seed + static_cast<std::uint64_t>(rounds_++) * 4096);
    Drawing drawing;
    drawing.answers = options_.answers;
    drawing.longest = options_.longest;
    drawing.seed = seeds.next();
    const Rollouts drawn = draw(*policy_, questions, drawing);
    const auto advantages = group_relative(drawn.rewards, options_.answers);

    UpdateRows all{drawn, at::tensor(advantages).to(at::kFloat).unsqueeze(1), {}};
    Round round;
    round.reward = std::accumulate(drawn.rewards.begin(), drawn.rewards.end(), 0.0) /
                   static_cast<double>(drawn.rewards.size());
    round.undecided_groups = undecided(advantages, options_.answers);
    round.drawn_tokens = drawn.answered.sum().item<std::int64_t>();
    if (reference_) {
        at::NoGradGuard no_grad;
        all.reference = log_probabilities(*reference_, drawn.tokens);
        round.divergence = divergences(drawn.drawn_with, all.reference)
                               .masked_select(drawn.answered)
                               .mean()
                               .item<double>();
    }

    const std::int64_t of_step = options_.rows_a_step > 0 ? options_.rows_a_step : drawn.rows();
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
        const auto order = shuffled(drawn.rows(), seeds.next());
        for (std::int64_t first = 0; first < drawn.rows(); first += of_step) {
            const auto count = std::min(of_step, drawn.rows() - first);
            const std::span<const std::int64_t> picked(order.data() + first,
                                                       static_cast<std::size_t>(count));
            const auto index = at::tensor(at::ArrayRef<std::int64_t>(picked.data(), picked.size()));
            update({drawn.rows(picked), all.advantages.index_select(0, index),
                    reference_ ? all.reference.index_select(0, index) : at::Tensor()});
            ++round.updates;
        }
    }
    return round;
}

void Grpo::update(const UpdateRows& rows) {
    for (auto& block : policy_->blocks()) block->zero_grad();
    gradients_(*policy_, rows);
    std::vector<nn::TrainedBlock> blocks;
    for (auto& block : policy_->blocks()) blocks.emplace_back(block.get());
    const double norm = nn::gradient_norm(blocks);
    if (!std::isfinite(norm))
        throw std::runtime_error("the gradient of update " + std::to_string(updates_) +
                                 " is not finite");
    at::NoGradGuard no_grad;
    ++updates_;
    for (auto& block : policy_->blocks()) {
        if (options_.clip > 0 && norm > options_.clip) block->grad().mul_(options_.clip / norm);
        nn::adam_update(*block, updates_, options_.adam);
    }
}

}  // namespace assay::rl
