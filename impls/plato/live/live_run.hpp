// Plans answered by one engine in this process: real tokens, exact counters, times of this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/batch_engine.hpp"
#include "impls/plato/live/answering.hpp"

namespace assay::plato {

struct LiveSettings {
    AnswerSettings answer = {};
    int max_batch = 64;   ///< sequences side by side, of all questions
    int concurrency = 1;  ///< questions at once; more wait
    /// Time is what the back end says of its steps, nothing else: where it is modelled.
    bool modelled_time = false;
};

struct LiveNode {
    std::int64_t prompt_tokens = 0;
    std::int64_t recomputed_tokens = 0;  ///< neither found in the cache nor linked
    double ready_s = 0;                  ///< announced, and what it waits for is finished
    double start_s = 0, end_s = 0;       ///< of the steps before and after; since the question came
    std::vector<int> ids;
    std::vector<double> log_probabilities;
};

struct LiveAnswer {
    std::int64_t answer_tokens = 0, plan_tokens = 0;
    std::int64_t prompt_tokens = 0, recomputed_tokens = 0;  ///< of nodes; of the answer without
    double seconds = 0;                          ///< from the question to the whole answer
    std::vector<double> plan_log_probabilities;  ///< of the plan's tokens, which are given
    std::vector<LiveNode> nodes;                 ///< [number - 1]; without a plan one: the answer
};

/// A step as it was made.
struct LiveStep {
    std::int64_t prefilled = 0;  ///< prompt tokens computed in it
    int sequences = 0;           ///< that got a token
    double seconds = 0;          ///< by the back end's clock
};

struct LiveRun {
    std::vector<LiveAnswer> answers;  ///< by question
    double seconds = 0;  ///< of all; what is cached before, and making room after, is not in it
    double controller_s = 0;  ///< of it, spent on deciding and on putting prompts together
    std::vector<LiveStep> steps;
    int held_blocks = 0;              ///< in the end, caches emptied; of several ends the most
    std::uint32_t answers_crc32 = 0;  ///< of all answers
};

/// Blocks of the cache that such a run needs: all sequences of so many questions at once.
int blocks_for(std::span<const QuestionTokens> questions, int concurrency);

/// Tokens of a step, so that every prompt is computed in one, as the model of a step has it.
int chunk_for(std::span<const QuestionTokens> questions, int concurrency);

/// One question at a time starts from an empty cache but for the static parts, which are computed
/// before its time begins; several at once share what is cached of them. Throws UserError: a
/// sequence beyond the context, links where keys are not rotated.
LiveRun run_live(std::span<const QuestionTokens> questions,
                 std::unique_ptr<decode::BackEnd> back_end, const LiveSettings& settings);

/// Over ids and log-probabilities, answer by answer, node by node.
std::uint32_t answers_crc32(std::span<const LiveAnswer> answers);

/// CRC-32 (ISO 3309), of bytes in addition to those before.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace assay::plato
