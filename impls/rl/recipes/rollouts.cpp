#include "impls/rl/recipes/rollouts.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "impls/rl/recipes/scalar_head.hpp"
#include "suite/base/error.hpp"
#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::rl {
namespace {

const auto int64 = at::TensorOptions().dtype(at::kLong);
const auto float32 = at::TensorOptions().dtype(at::kFloat);

/// Room for rows of prompt and answer; writing goes through plain pointers.
struct Table {
    std::int64_t rows, length;  // length + 1 tokens a row
    at::Tensor tokens = at::full({rows, length + 1}, end_token, int64);
    at::Tensor answered = at::zeros({rows, length}, float32.dtype(at::kBool));
    at::Tensor logprobs = at::zeros({rows, length}, float32);
    at::Tensor sampled_logprobs = at::zeros({rows, length}, float32);
    std::int64_t* token(std::int64_t row, std::int64_t at) {
        return tokens.mutable_data_ptr<std::int64_t>() + row * (length + 1) + at;
    }
    /// Marks the token at position `at` > 0 of the row as the policy's.
    void mark(std::int64_t row, std::int64_t at, float logprob, float sampled_logprob) {
        answered.mutable_data_ptr<bool>()[row * length + at - 1] = true;
        logprobs.mutable_data_ptr<float>()[row * length + at - 1] = logprob;
        sampled_logprobs.mutable_data_ptr<float>()[row * length + at - 1] = sampled_logprob;
    }
};

/// The token that a uniform draw in (0, 1) falls on: the first whose cumulated probability exceeds
/// it. The probabilities add up to 1, but for rounding.
int fallen_on(std::span<const float> probabilities, double uniform) {
    double left = uniform;
    for (std::size_t i = 0; i < probabilities.size(); ++i)
        if ((left -= probabilities[i]) < 0) return static_cast<int>(i);
    return static_cast<int>(std::max_element(probabilities.begin(), probabilities.end()) -
                            probabilities.begin());
}

/// What tokens are drawn with, fp32 [rows, vocabulary]; at temperature 0 all on the likeliest.
at::Tensor probabilities(const at::Tensor& logits, double temperature) {
    if (temperature > 0) return at::softmax(logits / temperature, -1);
    return at::zeros_like(logits).scatter_(-1, logits.argmax(-1, /*keepdim=*/true), 1);
}

}  // namespace

Rollouts Rollouts::rows(std::span<const std::int64_t> picked) const {
    const auto index = at::tensor(at::ArrayRef<std::int64_t>(picked.data(), picked.size()), int64);
    Rollouts part{tokens.index_select(0, index),
                  answered.index_select(0, index),
                  logprobs.index_select(0, index),
                  sampled_logprobs.index_select(0, index),
                  {},
                  {}};
    for (const auto row : picked) {
        part.answers.push_back(answers.at(static_cast<std::size_t>(row)));
        if (!rewards.empty()) part.rewards.push_back(rewards.at(static_cast<std::size_t>(row)));
    }
    return part;
}

Rollouts draw(const nn::Decoder& policy, std::span<const Question> questions,
              const Drawing& drawing) {
    if (questions.empty() || drawing.answers < 1 || drawing.longest < 1)
        throw std::invalid_argument("there is nothing to answer");
    if (policy.config().vocabulary != 256)
        throw std::invalid_argument("the policy's tokens are not bytes");
    at::NoGradGuard no_grad;
    std::size_t longest_prompt = 0, shortest_prompt = questions.front().prompt.size();
    for (const Question& question : questions) {
        longest_prompt = std::max(longest_prompt, question.prompt.size());
        shortest_prompt = std::min(shortest_prompt, question.prompt.size());
    }
    if (shortest_prompt == 0) throw std::invalid_argument("a question without a prompt");
    const auto longest_row = static_cast<std::int64_t>(longest_prompt) + drawing.longest;
    if (longest_row - 1 > policy.config().context)
        throw UserError(fmt::format(
            "a question and its answer take up to {} tokens, more than the model's context of {}; "
            "give a shorter longest answer",
            longest_row, policy.config().context));
    const auto per_question = static_cast<std::int64_t>(drawing.answers);
    Table table{static_cast<std::int64_t>(questions.size()) * per_question, longest_row - 1};
    std::vector<std::string> answers(static_cast<std::size_t>(table.rows));
    const auto prompt_of = [&](std::int64_t row) -> const std::string& {
        return questions[static_cast<std::size_t>(row / per_question)].prompt;
    };
    for (std::int64_t row = 0; row < table.rows; ++row)
        std::copy(prompt_of(row).begin(), prompt_of(row).end(), table.token(row, 0));

    const auto seed = statistics::CounterDraws(drawing.seed).next();
    const auto longest = static_cast<std::size_t>(drawing.longest);
    // What all rows of a question begin with is run once; then a column at a time.
    nn::KeyValueCache cache(policy.config(), table.length);
    auto column = static_cast<std::int64_t>(shortest_prompt);
    auto logits = policy.next_logits(
        table.tokens.slice(0, 0, table.rows, per_question).narrow(1, 0, column), cache);
    cache.repeat(per_question);
    logits = logits.repeat_interleave(per_question, 0);
    std::vector<bool> ended(static_cast<std::size_t>(table.rows), false);
    for (;; ++column) {
        const auto scores = at::log_softmax(logits, -1);
        const auto chances = probabilities(logits, drawing.temperature);
        const auto width = scores.size(1);
        for (std::int64_t row = 0; row < table.rows; ++row) {
            const auto r = static_cast<std::size_t>(row);
            const bool of_prompt = column < static_cast<std::int64_t>(prompt_of(row).size());
            if (of_prompt || ended[r]) continue;
            statistics::CounterDraws here(seed ^ (static_cast<std::uint64_t>(row) << 32U) ^
                                          static_cast<std::uint64_t>(column));
            const int token = fallen_on(
                {chances.const_data_ptr<float>() + row * width, static_cast<std::size_t>(width)},
                here.uniform());
            *table.token(row, column) = token;
            const float logprob = scores.const_data_ptr<float>()[row * width + token];
            const float chance = chances.const_data_ptr<float>()[row * width + token];
            table.mark(row, column, logprob, drawing.temperature == 1 ? logprob : std::log(chance));
            answers[r] += static_cast<char>(token);
            ended[r] = token == end_token || answers[r].size() == longest;
        }
        if (std::all_of(ended.begin(), ended.end(), [](bool e) { return e; })) break;
        logits = policy.next_logits(table.tokens.narrow(1, column, 1), cache);
    }
    // No row is longer than this.
    return {table.tokens.narrow(1, 0, column + 1),
            table.answered.narrow(1, 0, column),
            table.logprobs.narrow(1, 0, column),
            table.sampled_logprobs.narrow(1, 0, column),
            answers,
            {}};
}

Rollouts draw(const nn::Decoder& policy, std::span<const Question> questions,
              const Drawing& drawing, const Judge& judge) {
    auto drawn = draw(policy, questions, drawing);
    drawn.rewards = judge(questions, drawn);
    if (drawn.rewards.size() != drawn.answers.size())
        throw std::invalid_argument("a judge gives every answer one reward");
    return drawn;
}

std::vector<double> right_answers(std::span<const Question> questions, const Rollouts& drawn) {
    const auto each = drawn.answers.size() / questions.size();
    std::vector<double> rewards(drawn.answers.size());
    for (std::size_t row = 0; row < rewards.size(); ++row)
        rewards[row] = reward(questions[row / each], drawn.answers[row]);
    return rewards;
}

double accuracy(const nn::Decoder& policy, std::span<const Question> questions, int longest) {
    Drawing likeliest;
    likeliest.longest = longest;
    likeliest.temperature = 0;
    const auto rewards = draw(policy, questions, likeliest, right_answers).rewards;
    double right = 0;
    for (const double reward : rewards) right += reward;
    return right / static_cast<double>(rewards.size());
}

at::Tensor log_probabilities(const nn::Decoder& policy, const at::Tensor& tokens) {
    nn::Maps plain;
    return log_probabilities(policy, tokens, plain);
}

at::Tensor log_probabilities(const nn::Decoder& policy, const at::Tensor& tokens, nn::Maps& maps) {
    return evaluate(policy, tokens, maps).log_probabilities;
}

}  // namespace assay::rl
