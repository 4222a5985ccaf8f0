// Which characters are letters, numbers and white space: all that cutting a text into words needs.
#pragma once

namespace assay::nn {

enum class CharacterClass { letter, number, space, other };

/// Of a code point: \p{L}, \p{N}, \s (Unicode's White_Space), or none of these. What is not UTF-8
/// (utf8.hpp) is `other`.
CharacterClass character_class(char32_t);

}  // namespace assay::nn
