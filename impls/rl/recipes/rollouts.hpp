// Answers that a policy draws, with what training on them needs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/rl/tasks/questions.hpp"

namespace assay::rl {

/// A token is a byte. What an answer ends with, and what fills a row behind it.
inline constexpr int end_token = '\n';

/// Rows of prompt and answer, padded behind with end_token to a common length.
struct Rollouts {
    at::Tensor tokens;    ///< int64 [rows, length + 1]
    at::Tensor answered;  ///< bool [rows, length]: tokens[:, 1:] that the policy has drawn
    /// fp32 [rows, length]: ln p of those then, by the policy's softmax, and by what they were
    /// drawn from (its temperature; at 0 there was no choice, and this is 0); 0 elsewhere.
    /// Trainings that compare policies use the first.
    at::Tensor logprobs, sampled_logprobs;
    std::vector<std::string> answers;  ///< [rows], with the end unless cut short
    std::vector<double> rewards;       ///< [rows], of a Judge; empty before

    std::int64_t rows() const { return tokens.size(0); }
    /// Of the listed rows, in that order.
    Rollouts rows(std::span<const std::int64_t> picked) const;
};

struct Drawing {
    int answers = 1;         ///< to each question: neighbouring rows
    int longest = 16;        ///< tokens of an answer, its end included
    double temperature = 1;  ///< 0: the likeliest token
    std::uint64_t seed = 1;  ///< draw (row, token) is a function of it, the row and the position
};

/// What the answers to `questions` are worth: a number for each row of the rollouts, in which a
/// question has as many neighbouring rows as any other.
using Judge =
    std::function<std::vector<double>(std::span<const Question> questions, const Rollouts&)>;
/// The judge that knows the answers: reward() of tasks.hpp.
std::vector<double> right_answers(std::span<const Question> questions, const Rollouts&);

/// No gradients, no rewards. The rows are one batch, each token runs through the policy once.
/// Throws UserError where a prompt and its answer exceed the model's context, std::invalid_argument
/// without a question, for a model whose vocabulary is not 256.
Rollouts draw(const nn::Decoder& policy, std::span<const Question> questions, const Drawing&);

/// draw(), judged.
Rollouts draw(const nn::Decoder& policy, std::span<const Question> questions, const Drawing&,
              const Judge& judge);

/// Share of the questions that the policy answers exactly, likeliest tokens, one answer each.
double accuracy(const nn::Decoder& policy, std::span<const Question> questions, int longest);

/// ln p of tokens[:, 1:] under the policy, with graph: fp32 [rows, length].
at::Tensor log_probabilities(const nn::Decoder& policy, const at::Tensor& tokens);
/// The same, every parameter used through `maps`.
at::Tensor log_probabilities(const nn::Decoder& policy, const at::Tensor& tokens, nn::Maps& maps);

}  // namespace assay::rl
