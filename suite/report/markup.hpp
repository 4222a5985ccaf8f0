// HTML and SVG as text: escaping, through which every text from outside goes, ids, and the style
// sheet of pages.
#pragma once

#include <string>
#include <string_view>

namespace assay::report {

/// Safe as text and inside a quoted attribute. What is not is_printable() (control characters
/// but tab and line break, marks of direction, broken UTF-8) becomes U+FFFD.
std::string escaped(std::string_view text);

/// The same for sentences: what stands between backticks becomes code.
std::string escaped_prose(std::string_view text);

/// Letters, digits and '-' only: usable as an id. "lazarus/fig8" → "lazarus-fig8".
std::string as_id(std::string_view text);

std::string_view page_style_sheet();  ///< of the report and of the nightly page

}  // namespace assay::report
