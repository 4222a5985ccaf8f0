#include "impls/rl/rollouts.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

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
    at::Tensor drawn_with = at::zeros({rows, length}, float32);
    std::int64_t* token(std::int64_t row, std::int64_t at) {
        return tokens.mutable_data_ptr<std::int64_t>() + row * (length + 1) + at;
    }
    /// Marks the token at position `at` > 0 of the row as the policy's.
    void mark(std::int64_t row, std::int64_t at, float log_probability) {
        answered.mutable_data_ptr<bool>()[row * length + at - 1] = true;
        drawn_with.mutable_data_ptr<float>()[row * length + at - 1] = log_probability;
    }
};

/// The token that a uniform draw in (0, 1) falls on: the first whose cumulated probability exceeds
/// it.
int fallen_on(const float* log_probabilities, int count, double temperature, double uniform) {
    if (temperature == 0)
        return static_cast<int>(std::max_element(log_probabilities, log_probabilities + count) -
                                log_probabilities);
    std::vector<double> weights(static_cast<std::size_t>(count));
    double sum = 0;
    const double largest = *std::max_element(log_probabilities, log_probabilities + count);
    for (int i = 0; i < count; ++i)
        sum += weights[static_cast<std::size_t>(i)] =
            std::exp((log_probabilities[i] - largest) / temperature);
    double left = uniform * sum;
    for (int i = 0; i < count; ++i)
        if ((left -= weights[static_cast<std::size_t>(i)]) < 0) return i;
    return count - 1;
}

}  // namespace

Rollouts Rollouts::rows(std::span<const std::int64_t> picked) const {
    const auto index = at::tensor(at::ArrayRef<std::int64_t>(picked.data(), picked.size()), int64);
    Rollouts part{tokens.index_select(0, index),
                  answered.index_select(0, index),
                  drawn_with.index_select(0, index),
                  {},
                  {}};
    for (const auto row : picked) {
        part.answers.push_back(answers.at(static_cast<std::size_t>(row)));
        part.rewards.push_back(rewards.at(static_cast<std::size_t>(row)));
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
    std::size_t longest_prompt = 0;
    for (const Question& question : questions)
        longest_prompt = std::max(longest_prompt, question.prompt.size());
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
    nn::Maps plain;
    std::vector<bool> ended(static_cast<std::size_t>(table.rows), false);
    for (int step = 0; step < drawing.longest; ++step) {
        const auto seen = static_cast<std::int64_t>(longest_prompt) + step;
        const auto scores =
            at::log_softmax(policy.logits(table.tokens.narrow(1, 0, seen), plain), -1).contiguous();
        const auto width = scores.size(2);
        for (std::int64_t row = 0; row < table.rows; ++row) {
            const auto r = static_cast<std::size_t>(row);
            if (ended[r]) continue;
            const auto at = static_cast<std::int64_t>(prompt_of(row).size()) + step;
            const float* of_token = scores.const_data_ptr<float>() + (row * seen + at - 1) * width;
            statistics::CounterDraws here(seed ^ (static_cast<std::uint64_t>(row) << 32U) ^
                                          static_cast<std::uint64_t>(at));
            const int token =
                fallen_on(of_token, static_cast<int>(width), drawing.temperature, here.uniform());
            *table.token(row, at) = token;
            table.mark(row, at, of_token[token]);
            answers[r] += static_cast<char>(token);
            ended[r] = token == end_token;
        }
        if (std::all_of(ended.begin(), ended.end(), [](bool e) { return e; })) break;
    }
    Rollouts drawn{table.tokens, table.answered, table.drawn_with, {}, {}};
    for (std::int64_t row = 0; row < table.rows; ++row) {
        const auto& answer = answers[static_cast<std::size_t>(row)];
        drawn.rewards.push_back(
            reward(questions[static_cast<std::size_t>(row / per_question)], answer));
        drawn.answers.push_back(answer);
    }
    return drawn;
}

double accuracy(const nn::Decoder& policy, std::span<const Question> questions, int longest) {
    Drawing likeliest;
    likeliest.longest = longest;
    likeliest.temperature = 0;
    const auto rewards = draw(policy, questions, likeliest).rewards;
    double right = 0;
    for (const double reward : rewards) right += reward;
    return right / static_cast<double>(rewards.size());
}

at::Tensor log_probabilities(const nn::Decoder& policy, const at::Tensor& tokens) {
    nn::Maps plain;
    return log_probabilities(policy, tokens, plain);
}

at::Tensor log_probabilities(const nn::Decoder& policy, const at::Tensor& tokens, nn::Maps& maps) {
    const auto length = tokens.size(1) - 1;
    const auto scores = policy.logits(tokens.narrow(1, 0, length), maps);
    return at::log_softmax(scores, -1)
        .gather(-1, tokens.narrow(1, 1, length).unsqueeze(-1))
        .squeeze(-1);
}

}  // namespace assay::rl
