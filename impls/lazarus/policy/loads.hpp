// The loads file: one non-negative integer per expert, separated by white space or commas.
#pragma once

#include <string_view>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Commas may be surrounded by white space; a comma must stand between two numbers. Throws
/// UserError "NAME:LINE:COLUMN: …" for a negative, fractional, non-numeric or too large (above
/// 2^63-1) number, a comma without a number, or no number at all. `name` is what the message calls
/// the text.
Loads parse_loads(std::string_view text, std::string_view name);

}  // namespace assay::lazarus
