// A made-up language in which some letters offend, and people who would rather not read them: what
// rlhf is about where the paper has toxic text. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::dr_post_training {

/// What is said next: up to eight letters and a line end. x, y and z offend.
///   "say abxc="  →  "dabxgf\n"
/// Prompt number `number` of a stream: three to five letters, in every third prompt some that
/// offend. A function of both.
std::string said_prompt(std::uint64_t stream, std::uint64_t number);

/// What those who were overheard say next, four to eight letters: 4 % of the letters offend, 20 %
/// where the prompt does, too. A function of the arguments.
std::string said_next(std::string_view prompt, std::uint64_t stream, std::uint64_t number);

/// The prompt and a continuation of any manners: up to eight letters of which up to half offend.
std::string said_anyhow(std::string_view prompt, std::uint64_t stream, std::uint64_t number);

/// Letters that offend behind the '=' (in all of it where there is none), up to the line end.
int offences(std::string_view text);
/// Letters behind the '=', up to the line end.
int letters(std::string_view text);

/// How little people like it: its offences, and one for every letter that is missing from four, or
/// silence would be best.
int annoyance(std::string_view text);

/// Whether people prefer the one to the other: the less annoying, either where they are equal.
/// Asked by number, a share `mistaken` of them says the opposite.
bool preferred(std::string_view one, std::string_view other, double mistaken, std::uint64_t stream,
               std::uint64_t number);

}  // namespace assay::dr_post_training
