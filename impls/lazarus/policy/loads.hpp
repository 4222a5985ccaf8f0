// The loads file: one non-negative integer per expert, separated by white space or commas.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string_view>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Commas may be surrounded by white space; a comma must stand between two numbers. Throws
/// UserError "NAME:LINE:COLUMN: …" for a negative, fractional, non-numeric or too large (above
/// 2^63-1) number, a comma without a number, or no number at all. `name` is what the message calls
/// the text.
Loads parse_loads(std::string_view text, std::string_view name);

/// No loads file is larger than this; room for more than 3 million experts of any load.
inline constexpr std::size_t largest_loads_bytes = std::size_t{64} << 20U;

/// Reads to the end, but never more than that: a larger stream is a UserError.
Loads read_loads(std::istream& stream, std::string_view name);

}  // namespace assay::lazarus
