// Tasks with exact answers, small enough for models of a fraction of a million parameters: an
// answer is right or it is not, and no model of rewards is needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::rl {

/// A question and its only right answer. Questions are ASCII and end in '=', answers end in a line
/// end, by which whoever answers says that he is done.
struct Question {
    std::string prompt;
    std::string answer;
};

/// The tasks:
///   add      "37+5="      "42\n"      two numbers of one or two digits
///   reverse  "rev abc="   "cba\n"     three to six letters a to h
///   close    "close ([{=" "}])\n"     two to six open brackets
///   copy     "copy abc="  "abc\n"
///   sort     "sort cab="  "abc\n"
///   next     "next abc="  "bcd\n"     each letter's successor, h's is a
const std::vector<std::string>& task_names();

/// Question number `number` of a task: a function of (task, seed, number). Throws
/// std::invalid_argument for a task that there is not.
Question question(std::string_view task, std::uint64_t seed, std::uint64_t number);

/// The answer to a prompt of the task as it is written above. Throws std::invalid_argument for
/// another prompt.
std::string answer_to(std::string_view task, std::string_view prompt);

/// 1 for the right answer, else 0; text behind the first line end does not count.
double reward(const Question& question, std::string_view answer);

}  // namespace assay::rl
