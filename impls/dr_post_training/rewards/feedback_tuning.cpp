#include "impls/dr_post_training/rewards/feedback_tuning.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "impls/dr_post_training/rewards/answer_filter.hpp"
#include "impls/rl/recipes/ppo.hpp"
#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::dr_post_training {
namespace {

rl::PpoOptions ppo_options(const FeedbackSettings& settings, double rate, std::uint64_t seed) {
    rl::PpoOptions options;
    options.longest = settings.longest;
    options.rows_a_step = settings.rows_a_step;
    options.epochs = settings.epochs;
    options.kl = settings.kl;
    options.kl_target = settings.kl_target;
    options.adam.learning_rate = rate;
    options.value_rate_factor = settings.value_rate_factor;
    options.warmup = 4;
    options.seed = seed;
    return options;
}

/// The target's side of a step: which rows steer, and by which loss.
class Steering {
  public:
    Steering(const FeedbackSettings& settings, const rl::PpoOptions& ppo)
        : settings_(settings), ppo_(ppo) {}

    void begin_round(rl::PpoRows rows, std::uint64_t seed) {
        rows_ = std::move(rows);
        normalised_ =
            at::tensor(rl::batch_normalised(rows_.rollouts.rewards)).to(at::kFloat).unsqueeze(1);
        draws_ = statistics::CounterDraws(seed);
    }
    /// Rows of the round for one update, drawn anew.
    std::vector<std::int64_t> pick() {
        std::vector<std::int64_t> picked;
        const auto all = rl::batches(rows_.count(), 0, draws_.next()).front();
        const auto count = std::min(all.size(), settings_.target_rows);
        picked.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
        return picked;
    }
    std::vector<std::int64_t> all() const {
        std::vector<std::int64_t> rows(static_cast<std::size_t>(rows_.count()));
        std::iota(rows.begin(), rows.end(), 0);
        return rows;
    }

    /// Loss of general rows, by PPO, and of the picked target rows, in one forward pass through
    /// `maps`, sent backwards. The critic's head learns from general rows only.
    void backward(const nn::Decoder& policy, const rl::ScalarHead& critic,
                  const rl::PpoRows& general, const std::vector<std::int64_t>& picked,
                  nn::Maps& maps) const {
        const rl::PpoRows target = rows_.rows(picked);
        const auto n = general.count();
        const auto now =
            rl::evaluate(policy, together(general.rollouts.tokens, target.rollouts.tokens), maps);
        const auto part = [&](const at::Tensor& of, std::int64_t first, const rl::PpoRows& rows) {
            return of.narrow(0, first, rows.count()).narrow(1, 0, rows.values.size(1));
        };
        const auto loss = rl::ppo_losses(part(now.log_probabilities, 0, general),
                                         critic(part(now.hidden, 0, general)), general, ppo_);
        const auto index = at::tensor(picked, at::TensorOptions().dtype(at::kLong));
        const auto steering = target_loss(part(now.log_probabilities, n, target),
                                          critic.held(part(now.hidden, n, target)), target,
                                          normalised_.index_select(0, index));
        (loss.sum() + steering).backward();
    }

  private:
    /// Specification, section 3.2, "loss types".
    at::Tensor target_loss(const at::Tensor& now, const at::Tensor& values,
                           const rl::PpoRows& target, const at::Tensor& normalised) const {
        const auto& answered = target.rollouts.answered;
        if (settings_.direction == TargetLoss::train_loss)
            return rl::ppo_losses(now, values, target, ppo_).sum();
        if (settings_.direction == TargetLoss::token_pg)
            return -(now * target.advantages *
                     rl::averaging_weights(answered, rl::Averaging::tokens))
                        .sum();
        return -(now * normalised * rl::averaging_weights(answered, rl::Averaging::answers)).sum();
    }

    const FeedbackSettings& settings_;
    const rl::PpoOptions& ppo_;
    rl::PpoRows rows_;
    at::Tensor normalised_;  // rewards of all target rows of the round, [rows, 1]
    statistics::CounterDraws draws_{0};
};

}  // namespace

FeedbackTraining train_by_feedback(
    const FeedbackSettings& settings, std::string_view arm, double rate, std::uint64_t seed,
    const FeedbackStart& start,
    const std::function<void(std::int64_t round, double reward)>& progress) {
    const auto& arms = feedback_arms();
    if (std::find(arms.begin(), arms.end(), arm) == arms.end())
        throw std::invalid_argument("no arm " + std::string(arm));
    const bool filters = arm == "layer" || arm == "global";
    nn::Decoder policy = rl::copy_of(start.policy);
    const auto options = ppo_options(settings, rate, seed);
    Steering steering(settings, options);
    AnswerFilter filter(arm == "layer");
    rl::PpoGradients gradients;
    if (filters)
        gradients = [&](nn::Decoder& of, rl::ScalarHead& critic, const rl::PpoRows& rows) {
            const auto picked = steering.pick();
            auto& maps =
                filter.maps(rows.rollouts.answered, static_cast<std::int64_t>(picked.size()));
            steering.backward(of, critic, rows, picked, maps);
            filter.note();
        };
    rl::Ppo ppo(policy, options, rl::judge_by(start.rewards), gradients);

    const auto test = prompts_for(Prompts::test, seed, 0, settings.test_prompts);
    FeedbackTraining trained;
    trained.rate = rate;
    const auto evaluate = [&](std::int64_t round) {
        trained.at_round.push_back(static_cast<double>(round));
        trained.manners.push_back(manners_of(policy, test, settings, start));
    };
    evaluate(0);
    for (std::int64_t round = 0; round < settings.rounds; ++round) {
        const auto began = std::chrono::steady_clock::now();
        const auto [draws, order] = ppo.next_seeds();
        const auto number = static_cast<std::uint64_t>(round);
        const auto asked =
            prompts_for(Prompts::round, seed, number * settings.prompts, settings.prompts);
        rl::PpoRows rows = ppo.collect(asked, draws);
        double kept = 1;
        if (arm != "ppo") {
            rl::PpoRows target = rows;
            if (settings.target == TargetAnswers::held_out) {
                std::vector<rl::Question> prompts;
                statistics::CounterDraws of_target(order ^ 0x7a6e7ULL);
                for (std::uint64_t slot = 0; slot < settings.prompts; ++slot)
                    prompts.push_back(
                        prompts_for(
                            Prompts::target, seed,
                            of_target.index(static_cast<std::uint32_t>(settings.target_prompts)), 1)
                            .front());
                target = ppo.collect(prompts, of_target.next());
                trained.drawn_tokens += target.rollouts.answered.sum().item<double>();
            }
            steering.begin_round(std::move(target), order ^ 0x9b1cULL);
        }
        const rl::PpoRound done = ppo.finish(rows);
        if (arm == "iif") {
            const auto all = steering.all();
            const auto remain =
                kept_by_one_vote(rows.rollouts.answered, static_cast<std::int64_t>(all.size()),
                                 [&](SelectingMaps& maps) {
                                     steering.backward(policy, ppo.critic(), rows, all, maps);
                                 });
            kept = static_cast<double>(remain.size()) / static_cast<double>(rows.count());
            if (!remain.empty()) ppo.update(rows.rows(remain), order);
        } else {
            ppo.update(rows, order);
            if (filters) kept = filter.kept();
        }
        trained.seconds +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        trained.reward.push_back(done.reward);
        trained.divergence.push_back(done.divergence);
        trained.kl.push_back(done.kl);
        trained.kept.push_back(kept);
        trained.drawn_tokens += static_cast<double>(done.drawn_tokens);
        if ((round + 1) % settings.evaluate_every == 0 || round + 1 == settings.rounds)
            evaluate(round + 1);
        if (progress) progress(round, done.reward);
    }
    trained.validation =
        manners_of(policy, prompts_for(Prompts::validation, seed, 0, settings.validation_prompts),
                   settings, start)
            .reward;
    return trained;
}

double rounds_to_half(const FeedbackTraining& trained) {
    for (std::size_t i = 0; i < trained.manners.size(); ++i)
        if (trained.manners[i].judged <= trained.manners.front().judged / 2)
            return trained.at_round[i];
    return trained.at_round.back() + 1;
}

}  // namespace assay::dr_post_training
