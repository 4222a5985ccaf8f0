// A question as tokens: what the prompts of its planner and of its nodes are put together of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "impls/nn/text/tokenizer.hpp"
#include "impls/plato/plans/recorded.hpp"
#include "impls/plato/policy/controller.hpp"
#include "impls/plato/policy/plan_record.hpp"

namespace assay::plato {

/// Lengths are those of `plan`. Segments that can follow the same tokens begin with different ones,
/// so that what two prompts have in common ends where a segment does, and counts of tokens are
/// those of the plan in numbers.
struct QuestionTokens {
    PlanRecord plan;
    std::vector<int> static_plan;  ///< what the planner's prompt begins with
    std::vector<int> static_node;  ///< what every node's prompt begins with
    std::vector<int> question;
    struct Node {
        std::vector<int> line;        ///< of the plan
        std::vector<int> lead;        ///< introduces its answer in prompts
        std::vector<int> answer;      ///< empty: whatever the model says, so many tokens
        std::vector<int> point = {};  ///< of the skeleton: both, for Skeleton-of-Thought
    };
    std::vector<Node> nodes;  ///< [number - 1]
    /// What Skeleton-of-Thought's requests begin with.
    std::vector<int> static_skeleton = {}, static_point = {};

    const Node& node(int number) const { return nodes[static_cast<std::size_t>(number - 1)]; }
};

/// As the mode has them: those of Mode::sot as skeleton_of() has their plans, others as they are.
std::vector<QuestionTokens> as_asked(std::vector<QuestionTokens> questions, Mode mode);

/// Of plans in numbers: ids drawn at random. An answer with a text has that text's tokens, from its
/// beginning again where they are fewer. Throws UserError, naming the plan: one without a question,
/// a text that has no tokens, more segments than the vocabulary has tokens for.
std::vector<QuestionTokens> drawn_tokens(const std::vector<PlanRecord>& plans,
                                         const nn::Tokenizer& tokenizer, std::uint64_t seed);
/// … for no model: ids below `vocabulary`, texts are not looked at.
std::vector<QuestionTokens> drawn_tokens(const std::vector<PlanRecord>& plans, int vocabulary,
                                         std::uint64_t seed);

/// Of recorded answers: the plan's lines without END, titles and answers as they were recorded,
/// with instructions of ours (prompt_texts.hpp); lengths are what the tokenizer makes of them.
/// Throws UserError: titles that begin with the same token.
std::vector<QuestionTokens> recorded_tokens(const std::vector<RecordedAnswer>& answers,
                                            const nn::Tokenizer& tokenizer);

/// Tokens of the longest sequence, and of all that run at the same time at most, whatever the mode.
struct TokenNeed {
    std::int64_t longest = 0, all = 0;
};
TokenNeed token_need(const QuestionTokens& question);

}  // namespace assay::plato
