#include "impls/dr_post_training/rewards/feedback_start.hpp"

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <utility>

#include "impls/dr_post_training/method/training_step.hpp"
#include "impls/dr_post_training/rewards/manners.hpp"
#include "impls/dr_post_training/rewards/prompt_split.hpp"
#include "impls/nn/hashes.hpp"
#include "impls/rl/recipes/update.hpp"

namespace assay::dr_post_training {
namespace {

std::uint64_t stream_of(Prompts use, std::uint64_t seed) {
    return nn::counter_hash(seed * 16 + static_cast<std::uint64_t>(use));
}

Split split_for(Prompts use) {
    return use == Prompts::test         ? Split::test
           : use == Prompts::validation ? Split::validation
                                        : Split::trained;
}

std::string prompt_for(Prompts use, std::uint64_t seed, std::uint64_t number) {
    for (std::uint64_t draw = 0;; ++draw) {
        auto prompt = said_prompt(stream_of(use, seed), number * 1009 + draw);
        if (split_of(prompt) == split_for(use)) return prompt;
    }
}

/// Text number `number` that the model of rewards or the judge learns from.
std::string text_for(Prompts use, std::uint64_t seed, std::uint64_t number) {
    return said_anyhow(prompt_for(use, seed, number), stream_of(use, seed), number);
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
            const auto prompt = prompt_for(Prompts::start, seed, number);
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
rl::Preference pair_of(const FeedbackSettings& settings, std::uint64_t seed, std::uint64_t number) {
    auto one = text_for(Prompts::rewards, seed, 2 * number),
         other = text_for(Prompts::rewards, seed, 2 * number + 1);
    if (!preferred(one, other, settings.mistaken, stream_of(Prompts::rewards, seed), number))
        std::swap(one, other);
    return {std::move(one), std::move(other)};
}

rl::RewardModel taught_rewards(const FeedbackSettings& settings, std::uint64_t seed,
                               nn::StateKeeper& states) {
    rl::RewardModel model(settings.reward_model, seed);
    rl::train_reward_model(
        model, settings.reward_steps, settings.reward_rate, "rewards", states,
        [&](std::int64_t step) {
            std::vector<rl::Preference> pairs;
            for (std::size_t slot = 0; slot < settings.reward_rows; ++slot)
                pairs.push_back(
                    pair_of(settings, seed,
                            static_cast<std::uint64_t>(step) * settings.reward_rows + slot));
            return rl::preference_loss(model, pairs);
        });
    return model;
}

rl::RewardModel taught_judge(const FeedbackSettings& settings, std::uint64_t seed,
                             nn::StateKeeper& states) {
    rl::RewardModel model(settings.judge, nn::counter_hash(seed));
    rl::train_reward_model(
        model, settings.reward_steps, settings.reward_rate, "judge", states,
        [&](std::int64_t step) {
            std::vector<rl::Labelled> texts;
            for (std::size_t slot = 0; slot < settings.reward_rows; ++slot) {
                auto text =
                    text_for(Prompts::judge, seed,
                             static_cast<std::uint64_t>(step) * settings.reward_rows + slot);
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
    std::vector<std::string> better, worse;
    for (std::uint64_t number = unseen; better.size() < checked; ++number) {
        auto one = text_for(Prompts::rewards, seed, 2 * number),
             other = text_for(Prompts::rewards, seed, 2 * number + 1);
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
    std::vector<std::string> texts;
    for (std::uint64_t number = unseen; texts.size() < checked; ++number)
        texts.push_back(text_for(Prompts::judge, seed, number));
    const auto found = judge.worths(texts);
    double right = 0;
    for (std::size_t i = 0; i < texts.size(); ++i)
        right += (found[i] > 0) == (offences(texts[i]) > 0);
    return right / static_cast<double>(texts.size());
}

}  // namespace

std::vector<rl::Question> prompts_for(Prompts use, std::uint64_t seed, std::uint64_t first,
                                      std::uint64_t count) {
    std::vector<rl::Question> prompts;
    for (std::uint64_t number = first; number < first + count; ++number)
        prompts.push_back({prompt_for(use, seed, number), ""});
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
