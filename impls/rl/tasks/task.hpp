// Tasks whose answers are right or wrong, at twelve difficulties: what `assay rl` and the axis
// `task` know. No model of rewards is needed. (Dr. Post-Training's six questions:
// impls/rl/tasks/questions.hpp.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::rl::tasks {

/// At difficulty D:
///   add      "37+58="             "95"          two numbers of D digits, without a zero in front
///                                               but at D = 1
///   tag      "tag 37+58="         "<a>95</a>"   the same
///   sort     "sort 31415="        "11345"       D digits
///   reverse  "rev abc="           "cba"         D letters a to z
///   close    "close ([{="         "}])"         D open brackets
///   count    "count a in abca="   "2"           D letters a to e
enum class Task { add, tag, sort, reverse, close, count };
ASSAY_NAMES(Task, add, tag, sort, reverse, close, count)

constexpr int least_difficulty = 1, most_difficulty = 12;

/// A prompt, ASCII that ends in '=', and its only right answer, without the newline that ends a
/// response.
struct Question {
    std::string prompt, answer;
};

/// Which prompts are drawn: held-out ones are for measuring and are never trained on.
enum class Split { any, train, held_out };

/// Whether a prompt is held out, whatever the seed: its SHA-256, mod 8, is 0. An eighth of all.
bool is_held_out(std::string_view prompt);

/// Question number `number`: a function of the arguments, the same everywhere. Prompts repeat where
/// there are few. Throws UserError for a difficulty that there is not, and where 4096 draws bring
/// no prompt of the split: at difficulty 1 a task may have none that is held out.
Question question(Task task, int difficulty, std::uint64_t seed, std::uint64_t number,
                  Split split = Split::any);

/// The first `count` different prompts of question()'s 0, 1, …: fewer are a prefix of more. Once
/// 4096 questions in a row bring no new one, those found come again in their order. UserError as
/// question().
std::vector<Question> distinct_questions(Task task, int difficulty, std::uint64_t seed,
                                         std::size_t count, Split split = Split::any);

/// The answer to a prompt as it is written above. Throws UserError for a prompt that is none of
/// this task and difficulty.
std::string answer_to(Task task, int difficulty, std::string_view prompt);

/// 1 for exactly the answer, 0.2 for another `<a>digits</a>` where the task is `tag`, else 0: also
/// with a newline in it. `response`: what comes before the newline that ends it. One that was
/// truncated, because no newline came within the length limit, earns 0 whatever it says, and is for
/// the caller to know.
double reward(Task task, std::string_view answer, std::string_view response);

/// Bytes that a response may have, its newline included: more than any answer and its newline take.
/// Tokens are at most as many. Throws UserError for a difficulty that there is not.
int length_limit(Task task, int difficulty);

}  // namespace assay::rl::tasks
