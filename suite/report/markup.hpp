// Escaping for HTML and SVG. Every text that comes from outside goes through here.
#pragma once

#include <string>
#include <string_view>

namespace assay::report {

/// Safe as text and inside a quoted attribute. What is not is_printable() (control characters
/// but tab and line break, marks of direction, broken UTF-8) becomes U+FFFD.
std::string escaped(std::string_view text);

/// Letters, digits and '-' only: usable as an id. "lazarus/fig8" → "lazarus-fig8".
std::string as_id(std::string_view text);

}  // namespace assay::report
