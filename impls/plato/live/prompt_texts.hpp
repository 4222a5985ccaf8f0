// The texts around a question: what planners and nodes are told, and how a plan's parts are written
// into prompts. All of it is ours; the paper's prompts are not known.
#pragma once

#include <string>
#include <string_view>

#include "impls/plato/policy/plan_text.hpp"

namespace assay::plato {

/// Tells what a plan is, and shows two. Ends where a question is to follow.
std::string_view planner_instruction();
/// Tells to write a section of an answer. Ends where a question is to follow; begins with another
/// word than planner_instruction().
std::string_view node_instruction();

/// Skeleton-of-Thought's two requests, in words of ours: for a skeleton of three to ten points of
/// three to five words, with two examples, and to continue one point in one or two sentences
/// (imagination-research/sot, prompts/sot_opensource.json, commit 54f506f). What is the same for
/// all points stands before the question, as in Plato's prompts, so that it is computed once; there
/// some of it follows the skeleton. Both end where a question is to follow; both begin with other
/// words than each other.
std::string_view skeleton_instruction();
std::string_view point_instruction();

std::string question_text(std::string_view question);        ///< ends with a blank line
std::string line_text(int number, const PlannedNode& node);  ///< "2. TITLE | deps: 1\n"
std::string lead_text(int number, std::string_view title);   ///< "2. TITLE\n"; the same is
                                                             ///< a line of a skeleton
std::string answer_text(std::string_view answer);            ///< ends with a blank line

}  // namespace assay::plato
