// How a text is cut into words before byte pairs are merged; merges never cross a cut.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay::nn {

/// whole: no cuts.
/// gpt2: the pattern of GPT-2 (github.com/openai/gpt-2, encoder.py): contractions; runs of letters,
/// of numbers, of other characters, each with one space before it; white space, of which the last
/// character is left to the next word.
/// smollm: every number character alone; then gpt2 on what lies between.
/// llama3: the pattern of LLaMA 3 (github.com/meta-llama/llama3, tokenizer.py): contractions in
/// either case; letters with one other character before them; up to three numbers; other characters
/// with one space before and line ends after them; white space up to its last line end; then as
/// gpt2.
enum class WordRule { whole, gpt2, smollm, llama3 };

/// Bytes of the first word of a text that is not empty; at least 1.
std::size_t first_word(WordRule, std::string_view text);

}  // namespace assay::nn
