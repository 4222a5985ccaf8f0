// A vocabulary small enough to see through, and random bytes to encode.
#pragma once

#include <random>
#include <string>

#include "impls/nn/text/unicode.hpp"
#include "impls/nn/text/vocabulary.hpp"

namespace assay::testing {

/// Ids 0 … 255: the bytes; 256 "ab", 257 "abc", 258 "bc", 259 " a", 260 " ab", 261 <end> (control),
/// 262 <end>> (control), 263 ::tab (literal), 264 an unused one.
inline nn::Vocabulary small_vocabulary() {
    using nn::TokenKind;
    nn::Vocabulary vocabulary;
    for (int byte = 0; byte < 256; ++byte)
        vocabulary.tokens.push_back({nn::to_byte_letters(std::string(1, static_cast<char>(byte)))});
    for (const char* text : {"ab", "abc", "bc", " a", " ab"})
        vocabulary.tokens.push_back({nn::to_byte_letters(text)});
    vocabulary.tokens.push_back({"<end>", TokenKind::control});
    vocabulary.tokens.push_back({"<end>>", TokenKind::control});
    vocabulary.tokens.push_back({"::tab", TokenKind::literal});
    vocabulary.tokens.push_back({"[PAD]", TokenKind::unused});
    const std::string space = nn::to_byte_letters(" ");
    vocabulary.merges = {{"b", "c"}, {"a", "b"}, {"ab", "c"}, {space, "a"}, {space + "a", "b"}};
    vocabulary.end_of_text = 261;
    return vocabulary;
}

/// Bytes, and ChatML's two tokens: 256 <|im_start|>, 257 <|im_end|>.
inline nn::Vocabulary chat_vocabulary() {
    nn::Vocabulary vocabulary;
    for (int byte = 0; byte < 256; ++byte)
        vocabulary.tokens.push_back({nn::to_byte_letters(std::string(1, static_cast<char>(byte)))});
    vocabulary.tokens.push_back({"<|im_start|>", nn::TokenKind::control});
    vocabulary.tokens.push_back({"<|im_end|>", nn::TokenKind::control});
    return vocabulary;
}

/// Bytes of which many belong to `likely`, so that merges and special tokens really happen.
inline std::string random_bytes(std::mt19937& engine, std::size_t size, const std::string& likely) {
    std::string text;
    while (text.size() < size)
        text += engine() % 3 ? likely[engine() % likely.size()] : static_cast<char>(engine());
    return text;
}

}  // namespace assay::testing
