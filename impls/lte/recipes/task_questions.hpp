// Questions of a task that a language model answers by what it would rather continue with: GLUE's
// files (tab separated) and MMLU's (comma separated), as their publishers give them out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::lte {

struct Question {
    std::string prompt;
    std::vector<std::string> answers;  ///< each with the space in front of it
    std::size_t right = 0;             ///< its place among the answers
};

/// How a row becomes a question, a text file of the user's. Lines "KEY: VALUE" up to one of "---":
///   label:    the column of the right answer; default "label"
///   answers:  its values and what is written for them: "0 = no | 1 = yes"
///   columns:  names of the columns, for files whose first line has none
/// then the prompt, few shots and all, with {COLUMN} where a row's text belongs:
///   label: answer
///   answers: A = A | B = B | C = C | D = D
///   ---
///   Question: {question} (A) {A} (B) {B} (C) {C} (D) {D}
///   Answer:
/// A .csv file has MMLU's columns question, A, B, C, D and answer unless it is told others; any
/// other file is tab separated, its first line naming the columns unless they are told. Throws
/// UserError: a file that cannot be read, a column that is not there, a label without an answer, a
/// row with too few columns (with its line).
std::vector<Question> read_questions(const std::filesystem::path& data,
                                     const std::filesystem::path& form);

}  // namespace assay::lte
