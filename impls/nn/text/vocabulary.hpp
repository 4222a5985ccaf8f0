// A tokenizer's tables as files hold them, before they are checked and turned into a Tokenizer, and
// how they are read.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::nn {

/// How a text is cut into words before byte pairs are merged; merges never cross a cut.
/// whole: no cuts.
/// gpt2: the pattern of GPT-2 (github.com/openai/gpt-2, encoder.py): contractions; runs of letters,
/// of numbers, of other characters, each with one space before it; white space, of which the last
/// character is left to the next word.
/// smollm: every number character alone; then gpt2 on what lies between.
/// llama3: the pattern of LLaMA 3 (github.com/meta-llama/llama3, tokenizer.py): contractions in
/// either case; letters with one other character before them; up to three numbers; other characters
/// with one space before and line ends after them; white space up to its last line end; then as
/// gpt2.
/// qwen2: as llama3, but every number character alone (the pre_tokenizer of Qwen2's, Qwen2.5's and
/// Qwen3's tokenizer.json).
enum class WordRule { whole, gpt2, smollm, llama3, qwen2 };

/// Bytes of the first word of a text that is not empty; at least 1.
std::size_t first_word(WordRule, std::string_view text);

/// normal: written in byte letters (unicode.hpp), found by merging.
/// control: written as it is; taken from a text only on demand; stands for no bytes of a text.
/// literal: written as it is; always taken from a text before anything else.
/// unused: fills up the table, is never produced.
enum class TokenKind { normal, control, literal, unused };

struct Token {
    std::string written;
    TokenKind kind = TokenKind::normal;
};

struct Vocabulary {
    std::vector<Token> tokens;  ///< by id
    /// Pairs of normal tokens as written; earlier ones are merged first.
    std::vector<std::pair<std::string, std::string>> merges;
    WordRule words = WordRule::gpt2;
    /// A word that is a token is that token, whatever the merges would make of it (LLaMA 3).
    bool words_before_merges = false;
    /// A text is put into Unicode's composed form (NFC) before anything else (Qwen).
    bool composed = false;
    std::optional<int> start_of_text;
    std::optional<int> end_of_text;
    std::vector<int> text_ends;  ///< more ids that end a text; end_of_text may be among them
};

/// From a GGUF file's key-value pairs (tokenizer.ggml.*). Throws UserError naming the key that is
/// missing, of the wrong kind, or asks for what is not supported.
Vocabulary vocabulary_from_gguf(const nlohmann::json& metadata);

/// `tokenizer`: tokenizer.json with a byte-level BPE model. Throws UserError naming the part that
/// is missing, malformed or asks for what is not supported (normalizers other than NFC, other
/// pre-tokenizers, …).
Vocabulary vocabulary_from_tokenizer_json(const nlohmann::json& tokenizer);

/// A token id, or a list of them; null: none. nullopt: something in it is no token id.
std::optional<std::vector<int>> token_ids(const nlohmann::json&);

/// The ids by which a text ends as a file lists them, in GGUF's key-value pairs (eos, eot and
/// eom_token_id) and in a Hugging Face file of this name, "config" or "generation_config"
/// (eos_token_id). Throws UserError where they are something else.
std::vector<int> text_ends_of_gguf(const nlohmann::json& metadata);
std::vector<int> text_ends_of_config(const nlohmann::json& config, const char* name);

/// Fills in start and end of text by name (bos_token, eos_token of tokenizer_config.json), or,
/// where that is silent, by id (bos_token_id, the first eos_token_id of config.json). Either may be
/// null. A name that is no token is a UserError.
void name_text_ends(Vocabulary&, const nlohmann::json& tokenizer_config,
                    const nlohmann::json& config);

}  // namespace assay::nn
