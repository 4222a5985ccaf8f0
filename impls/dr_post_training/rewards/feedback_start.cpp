#include "impls/dr_post_training/rewards/feedback_start.hpp"

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <utility>

#include "impls/dr_post_training/method/training_step.hpp"
#include "impls/dr_post_training/rewards/manners.hpp"
#include "impls/nn/hashes.hpp"
#include "impls/rl/update.hpp"

namespace assay::dr_post_training {
namespace {

std::uint64_t stream_of(Prompts use, std::uint64_t seed) {
    return nn::counter_hash(seed * 16 + static_cast<std::uint64_t>(use));
}

bool test_prompt(const std::string& prompt) {
    return nn::counter_hash(nn::hash_text(prompt, 1)) % 4 == 0;
}

nn::Decoder overheard_policy(const FeedbackSettings& settings, std::uint64_t seed,
                             nn::StateKeeper& states) {
    nn::Decoder policy(settings.model, seed);
    const auto stream = stream_of(Prompts::start, seed);
    const auto bytes = nn::Tokenizer::bytes();
    const StepModel model{policy, at::kFloat, LossMean::token, {}};
    nn::TrainingOptions options;
    options.steps = settings.start_steps;
    options.learning_rate = settings.start_rate;
    options.decay_to_zero = true;
    nn::TrainingCallbacks callbacks;
    std::unique_ptr<TrainingStep> current;
    callbacks.loss = [&](std::int64_t step) {
        std::vector<nn::ScoredRow> rows;
        for (std::size_t slot = 0; slot < settings.start_rows; ++slot) {
            const auto number = static_cast<std::uint64_t>(step) * settings.start_rows + slot;
            const auto prompt = prompts_for(Prompts::start, seed, number, 1).front().prompt;
            rows.push_back(nn::answered_prompt(prompt, said_next(prompt, stream, number), bytes));
        }
        current = plain_step(model, rows);
        return nn::TrainingStep{at::scalar_tensor(current->loss(), at::kDouble), current->loss()};
    };
    callbacks.backward = [&](std::int64_t, const nn::TrainingStep&) { current->backward(); };
    nn::train("overheard", rl::blocks_of(policy), options, callbacks, states, 0);
    return policy;
}

/// Pair number `number`.
rl::Preference pair_of(const FeedbackSettings& settings, std::uint64_t stream,
                       std::uint64_t number) {
    auto one = said_anyhow(stream, 2 * number), other = said_anyhow(stream, 2 * number + 1);
    if (!preferred(one, other, settings.mistaken, stream, number)) std::swap(one, other);
    return {std::move(one), std::move(other)};
}

rl::RewardModel taught_rewards(const FeedbackSettings& settings, std::uint64_t seed,
                               nn::StateKeeper& states) {
    rl::RewardModel model(settings.reward_model, seed);
    const auto stream = stream_of(Prompts::rewards, seed);
    rl::train_reward_model(
        model, settings.reward_steps, settings.reward_rate, "rewards", states,
        [&](std::int64_t step) {
            std::vector<rl::Preference> pairs;
            for (std::size_t slot = 0; slot < settings.reward_rows; ++slot)
                pairs.push_back(
                    pair_of(settings, stream,
                            static_cast<std::uint64_t>(step) * settings.reward_rows + slot));
            return rl::preference_loss(model, pairs);
        });
    return model;
}

rl::RewardModel taught_judge(const FeedbackSettings& settings, std::uint64_t seed,
                             nn::StateKeeper& states) {
    rl::RewardModel model(settings.judge, nn::counter_hash(seed));
    const auto stream = stream_of(Prompts::judge, seed);
    rl::train_reward_model(
        model, settings.reward_steps, settings.reward_rate, "judge", states,
        [&](std::int64_t step) {
            std::vector<rl::Labelled> texts;
            for (std::size_t slot = 0; slot < settings.reward_rows; ++slot) {
                auto text = said_anyhow(
                    stream, static_cast<std::uint64_t>(step) * settings.reward_rows + slot);
                const bool yes = offences(text) > 0;
                texts.push_back({std::move(text), yes});
            }
            return rl::label_loss(model, texts);
        });
    return model;
}

constexpr std::uint64_t unseen = 10'000'000;  // the first number of texts that nobody learns from
constexpr std::uint64_t checked = 512;

double pairs_right(const rl::RewardModel& rewards, std::uint64_t seed) {
    const auto stream = stream_of(Prompts::rewards, seed);
    std::vector<std::string> better, worse;
    for (std::uint64_t number = unseen; better.size() < checked; ++number) {
        auto one = said_anyhow(stream, 2 * number), other = said_anyhow(stream, 2 * number + 1);
        if (annoyance(one) == annoyance(other)) continue;
        if (annoyance(one) > annoyance(other)) std::swap(one, other);
        better.push_back(std::move(one));
        worse.push_back(std::move(other));
    }
    const auto more = rewards.worths(better), less = rewards.worths(worse);
    double right = 0;
    for (std::size_t i = 0; i < more.size(); ++i) right += more[i] > less[i];
    return right / static_cast<double>(more.size());
}

double labels_right(const rl::RewardModel& judge, std::uint64_t seed) {
    const auto stream = stream_of(Prompts::judge, seed);
    std::vector<std::string> texts;
    for (std::uint64_t number = unseen; texts.size() < checked; ++number)
        texts.push_back(said_anyhow(stream, number));
    const auto found = judge.worths(texts);
    double right = 0;
    for (std::size_t i = 0; i < texts.size(); ++i)
        right += (found[i] > 0) == (offences(texts[i]) > 0);
    return right / static_cast<double>(texts.size());
}

}  // namespace

std::vector<rl::Question> prompts_for(Prompts use, std::uint64_t seed, std::uint64_t first,
                                      std::uint64_t count) {
    const bool for_test = use == Prompts::test;
    std::vector<rl::Question> prompts;
    for (std::uint64_t number = first; number < first + count; ++number) {
        // Short prompts come again and again: a quarter of all are for the test alone.
        std::string prompt;
        for (std::uint64_t draw = 0; prompt.empty() || test_prompt(prompt) != for_test; ++draw)
            prompt = said_prompt(stream_of(use, seed), number * 1009 + draw);
        prompts.push_back({std::move(prompt), ""});
    }
    return prompts;
}

FeedbackStart feedback_start(const FeedbackSettings& settings, std::uint64_t seed,
                             nn::StateKeeper& states) {
    FeedbackStart start{overheard_policy(settings, seed, states),
                        taught_rewards(settings, seed, states),
                        taught_judge(settings, seed, states)};
    start.pairs_right = pairs_right(start.rewards, seed);
    start.labels_right = labels_right(start.judge, seed);
    return start;
}

Manners manners_of(const nn::Decoder& policy, const std::vector<rl::Question>& prompts,
                   const FeedbackSettings& settings, const FeedbackStart& start) {
    rl::Drawing drawing;
    drawing.longest = settings.longest;
    drawing.seed = 99;  // the same draws at every evaluation
    const auto drawn = rl::draw(policy, prompts, drawing, rl::judge_by(start.rewards));
    const auto judged = rl::judge_by(start.judge)(prompts, drawn);
    Manners found;
    for (std::size_t row = 0; row < judged.size(); ++row) {
        found.reward += drawn.rewards[row];
        found.judged += judged[row] > 0;
        found.offends += offences(drawn.answers[row]) > 0;
        found.letters += letters(drawn.answers[row]);
    }
    for (double* const sum : {&found.reward, &found.judged, &found.offends, &found.letters})
        *sum /= static_cast<double>(judged.size());
    return found;
}

}  // namespace assay::dr_post_training
