// Characters of a text that need not be valid UTF-8: code points, which of them are letters,
// numbers and white space (all that cutting a text into words needs), their composed form, and the
// letters that stand for bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay::nn {

/// What a byte that belongs to no valid code point is read as: one such per byte.
inline constexpr char32_t not_utf8 = 0xffffffff;

struct CodePoint {
    char32_t value = not_utf8;
    std::size_t bytes = 1;
};

/// The code point that starts at `at` < text.size(). Overlong forms, surrogates, values above
/// U+10FFFF and truncated sequences are not UTF-8.
CodePoint code_point_at(std::string_view text, std::size_t at);

enum class CharacterClass { letter, number, space, other };

/// Of a code point: \p{L}, \p{N}, \s (Unicode's White_Space), or none of these. What is not UTF-8
/// is `other`.
CharacterClass character_class(char32_t);

/// Unicode's normal form C of what is UTF-8 in a text; other bytes stay as they are.
std::string composed_form(std::string_view text);

// Byte-level vocabularies are written with one printable character per byte (GPT-2): bytes that are
// printable in Latin-1 stand for themselves, the other 68 are U+0100 … U+0143 in their order.

/// The bytes that a text written in byte letters stands for; nullopt: a character is no byte
/// letter.
std::optional<std::string> from_byte_letters(std::string_view written);

/// Inverse.
std::string to_byte_letters(std::string_view bytes);

}  // namespace assay::nn
