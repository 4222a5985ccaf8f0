#include "impls/dr_post_training/rewards/reward_tuning.hpp"

#include <ATen/ATen.h>

#include <chrono>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "impls/dr_post_training/rewards/answer_filter.hpp"
#include "impls/dr_post_training/rewards/prompt_split.hpp"
#include "impls/nn/hashes.hpp"
#include "impls/nn/training/kept_values.hpp"
#include "impls/nn/training/row_batch.hpp"
#include "impls/rl/method/advantages.hpp"
#include "impls/rl/recipes/grpo.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::int64_t check_every = 20;  // steps of the start

Split split_for(Questions use) {
    return use == Questions::test         ? Split::test
           : use == Questions::validation ? Split::validation
                                          : Split::trained;
}

rl::Question question_for(const RewardSettings& settings, Questions use, std::uint64_t seed,
                          std::uint64_t number) {
    const auto stream = nn::counter_hash(seed * 8 + static_cast<std::uint64_t>(use));
    for (std::uint64_t draw = 0;; ++draw) {
        auto asked = rl::question(settings.task, stream, number * 1009 + draw);
        if (asked.prompt.size() > settings.longest_prompt) continue;
        if (split_of(asked.prompt) == split_for(use)) return asked;
    }
}

/// Gradients of an update whose maps drop the rows that oppose the target's answers of the round.
class FilteredGradients {
  public:
    FilteredGradients(const RewardSettings& settings, const rl::GrpoOptions& grpo, bool by_layer,
                      std::uint64_t seed)
        : settings_(settings), grpo_(grpo), seed_(seed), filter_(by_layer) {}

    /// The target's answers, drawn from the policy as it is now; returns their tokens.
    std::int64_t begin_round(const nn::Decoder& policy, std::int64_t round) {
        std::vector<rl::Question> prompts;
        for (std::size_t slot = 0; slot < settings_.target_rows; ++slot) {
            const auto draw = nn::counter_hash(
                seed_ ^ nn::counter_hash(static_cast<std::uint64_t>(round * 4096) + slot));
            prompts.push_back(
                question_for(settings_, Questions::target, seed_, draw % settings_.target_prompts));
        }
        rl::Drawing drawing;
        drawing.longest = settings_.longest;
        drawing.seed =
            nn::counter_hash(nn::counter_hash(seed_ + 77) ^ static_cast<std::uint64_t>(round));
        target_ = rl::draw(policy, prompts, drawing, rl::right_answers);
        return target_.answered.sum().item<std::int64_t>();
    }
    double kept() { return filter_.kept(); }

    void operator()(nn::Decoder& policy, const rl::UpdateRows& rows) {
        const auto n = rows.rollouts.rows(), m = target_.rows();
        auto& maps = filter_.maps(rows.rollouts.answered, m);
        const auto now =
            rl::log_probabilities(policy, together(rows.rollouts.tokens, target_.tokens), maps);
        const auto length = rows.rollouts.tokens.size(1) - 1;
        const auto general =
            rl::weighted_losses(now.narrow(0, 0, n).narrow(1, 0, length), rows, grpo_);
        const auto advantages =
            at::tensor(rl::batch_normalised(target_.rewards)).to(at::kFloat).unsqueeze(1);
        const auto target = -now.narrow(0, n, m).narrow(1, 0, target_.tokens.size(1) - 1) *
                            advantages *
                            rl::averaging_weights(target_.answered, rl::Averaging::tokens);
        (general.sum() + target.sum()).backward();
        filter_.note();
    }

  private:
    const RewardSettings& settings_;
    rl::GrpoOptions grpo_;
    std::uint64_t seed_;
    AnswerFilter filter_;
    rl::Rollouts target_;
};

rl::GrpoOptions grpo_options(const RewardSettings& settings, double rate, std::uint64_t seed) {
    rl::GrpoOptions options;
    options.answers = settings.answers;
    options.longest = settings.longest;
    options.rows_a_step = settings.rows_a_step;
    options.kl = settings.kl;
    options.adam.learning_rate = rate;
    options.adam.beta2 = 0.999;
    options.warmup = settings.warmup;
    options.seed = seed;
    return options;
}

}  // namespace

std::vector<rl::Question> questions_for(const RewardSettings& settings, Questions use,
                                        std::uint64_t seed, std::uint64_t first,
                                        std::uint64_t count) {
    std::vector<rl::Question> questions;
    for (std::uint64_t number = first; number < first + count; ++number)
        questions.push_back(question_for(settings, use, seed, number));
    return questions;
}

std::vector<rl::Question> different_questions(const RewardSettings& settings, Questions use,
                                              std::uint64_t seed, std::size_t count) {
    std::vector<rl::Question> questions;
    std::set<std::string> prompts;
    const std::uint64_t most = 64 * count;  // draws, of which most are of few short prompts
    for (std::uint64_t number = 0; number < most && questions.size() < count; ++number) {
        auto asked = question_for(settings, use, seed, number);
        if (prompts.insert(asked.prompt).second) questions.push_back(std::move(asked));
    }
    return questions;
}

std::int64_t early_round(std::int64_t rounds) { return (15 * rounds + 99) / 100; }

nn::Decoder started_policy(const RewardSettings& settings, std::uint64_t seed,
                           nn::StateKeeper& states) {
    nn::Decoder policy(settings.model, seed);
    if (nn::load_values(states, "start", policy.blocks())) return policy;
    const auto bytes = nn::Tokenizer::bytes();
    nn::Maps maps;
    rl::Updater updater(rl::blocks_of(policy), 1, {settings.start_rate, 0.9, 0.95, 1e-8},
                        check_every);
    // Of prompts that no training sees, nor any test.
    const auto unseen =
        different_questions(settings, Questions::validation, seed, settings.validation_questions);
    while (updater.updates() < settings.start_steps) {
        std::vector<nn::ScoredRow> rows;
        for (const auto& [prompt, answer] :
             questions_for(settings, Questions::start, seed,
                           static_cast<std::uint64_t>(updater.updates()) * settings.start_rows,
                           settings.start_rows))
            rows.push_back(nn::answered_prompt(prompt, answer, bytes));
        const auto batch = nn::batch_of(rows);
        const auto tokens = std::accumulate(batch.scored_tokens.begin(), batch.scored_tokens.end(),
                                            std::int64_t{0});
        updater.update([&] {
            (policy.token_losses(batch.tokens, maps, batch.targets).sum() / tokens).backward();
        });
        if (updater.updates() % check_every == 0 &&
            rl::accuracy(policy, unseen, settings.longest) >= settings.start_accuracy)
            break;
    }
    nn::save_values(states, "start", policy.blocks());
    return policy;
}

RewardedTraining train_by_reward(const RewardSettings& settings, std::string_view arm, double rate,
                                 std::uint64_t seed, const nn::Decoder& start,
                                 const std::function<void(std::int64_t, double)>& progress) {
    if (arm != "full" && arm != "global" && arm != "layer")
        throw std::invalid_argument("no arm " + std::string(arm));
    nn::Decoder policy = rl::copy_of(start);
    const auto options = grpo_options(settings, rate, seed);
    const auto filter = arm == "full" ? nullptr
                                      : std::make_shared<FilteredGradients>(settings, options,
                                                                            arm == "layer", seed);
    rl::Gradients gradients;
    if (filter)
        gradients = [filter](nn::Decoder& of, const rl::UpdateRows& rows) { (*filter)(of, rows); };
    rl::Grpo grpo(policy, options, gradients);

    const auto test = different_questions(settings, Questions::test, seed, settings.test_questions);
    RewardedTraining trained;
    trained.rate = rate;
    const auto evaluate = [&](std::int64_t round) {
        trained.at_round.push_back(static_cast<double>(round));
        trained.accuracy.push_back(rl::accuracy(policy, test, settings.longest));
    };
    evaluate(0);
    const auto each = static_cast<std::uint64_t>(settings.questions);
    for (std::int64_t round = 0; round < settings.rounds; ++round) {
        const auto began = std::chrono::steady_clock::now();
        const auto target_tokens = filter ? filter->begin_round(policy, round) : 0;
        const auto questions = questions_for(settings, Questions::round, seed,
                                             static_cast<std::uint64_t>(round) * each, each);
        const rl::Round done = grpo.round(questions);
        trained.seconds +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        trained.reward.push_back(done.reward);
        trained.kept.push_back(filter ? filter->kept() : 1);
        trained.undecided.push_back(done.undecided_groups);
        trained.drawn_tokens += static_cast<double>(done.drawn_tokens + target_tokens);
        const auto done_rounds = round + 1;
        const bool early = done_rounds == early_round(settings.rounds);
        if (early || done_rounds % settings.evaluate_every == 0 || done_rounds == settings.rounds)
            evaluate(done_rounds);
        if (early) trained.early_accuracy = trained.accuracy.back();
        if (progress) progress(round, done.reward);
    }
    trained.validation = rl::accuracy(
        policy,
        different_questions(settings, Questions::validation, seed, settings.validation_questions),
        settings.longest);
    return trained;
}

}  // namespace assay::dr_post_training
