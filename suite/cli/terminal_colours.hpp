// Colours, where a terminal shows them.
#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

/// Standard output is a terminal that is not dumb, and NO_COLOR (no-color.org) is not set.
bool colours_wanted();

enum class Colour { green, red };
std::string coloured(std::string_view text, Colour);

}  // namespace assay::cli
