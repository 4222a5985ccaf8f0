// A tokenizer's tables as files hold them, before they are checked and turned into a Tokenizer.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "impls/nn/text/words.hpp"

namespace assay::nn {

/// normal: written in byte letters (byte_letters.hpp), found by merging.
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
    std::optional<int> start_of_text;
    std::optional<int> end_of_text;
};

}  // namespace assay::nn
