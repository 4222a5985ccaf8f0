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

std::string question_text(std::string_view question);        ///< ends with a blank line
std::string line_text(int number, const PlannedNode& node);  ///< "2. TITLE | deps: 1\n"
std::string lead_text(int number, std::string_view title);   ///< "2. TITLE\n"
std::string answer_text(std::string_view answer);            ///< ends with a blank line

}  // namespace assay::plato
