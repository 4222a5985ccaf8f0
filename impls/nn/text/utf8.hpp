// Code points of a text that need not be valid UTF-8.
#pragma once

#include <cstddef>
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

}  // namespace assay::nn
