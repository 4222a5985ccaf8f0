// Plans without text, drawn at random: what is published of the paper's plans is no number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "impls/plato/policy/plan_record.hpp"

namespace assay::plato {

/// How the nodes of a plan depend on each other: an edge from each of the four nodes before a node
/// with probability `edge`; with `closing` a last node that depends on each other with .6.
struct PlanShape {
    double edge = 0;
    double closing = 0;
    bool chain = false;  ///< instead: every node on the one before
};

/// "flat" (no edge), "mixed" (.35, closing .7), "chain", "density:P" (P). Throws UserError.
PlanShape plan_shape(std::string_view name);

/// Tokens of Skeleton-of-Thought's requests up to the question, and of a line of its skeleton, by
/// SmolLM2's tokenizer: of the texts that we have for them (live/prompt_texts.hpp), and of "2.
/// TITLE", where it makes a token of the number, of its full stop, of the line's end, and of a word
/// (1.08 of titles in datasets/plans).
constexpr std::int64_t skeleton_instruction_tokens = 132, point_instruction_tokens = 44;
constexpr std::int64_t point_tokens(std::int64_t words) { return 3 + words; }

/// 4 to 9 nodes, answers of 40 to 140 tokens, lines of 12 to 22, leads of 8 to 16, a question of 20
/// to 90; 500 tokens before the planner's question, 120 before a node's; Skeleton-of-Thought's
/// points of 3 to 5 words (its request's wording). One seed, one set.
std::vector<PlanRecord> draw_plans(const PlanShape& shape, int count, std::uint64_t seed);

}  // namespace assay::plato
