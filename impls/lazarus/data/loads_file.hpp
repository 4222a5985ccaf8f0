// The loads file: one line per mixture-of-experts layer, on it the tokens that each of the layer's
// experts got, separated by white space or commas. A file with one number per line is one layer.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// [layer][expert]; all layers have the same number of experts, at least one. Empty lines are
/// skipped. Commas may be surrounded by blanks; on its line a comma must stand between two numbers.
/// Throws UserError "NAME:LINE:COLUMN: …" for whatever is no count of tokens: text (a header, NaN),
/// a negative, fractional or too large (above 2^63-1) number, a first or second column of layer or
/// step numbers (index_columns.hpp), a comma without a number, lines of different lengths, or no
/// number at all. `name` is what the message calls the text. `doubts`: gets a sentence where the
/// first column may hold such numbers.
std::vector<Loads> parse_loads(std::string_view text, std::string_view name,
                               std::vector<std::string>* doubts = nullptr);

/// No loads file is larger than this; room for more than 3 million experts of any load.
inline constexpr std::size_t largest_loads_bytes = std::size_t{64} << 20U;

/// Reads to the end, but never more than that: a larger stream is a UserError.
std::vector<Loads> read_loads(std::istream& stream, std::string_view name,
                              std::vector<std::string>* doubts = nullptr);

}  // namespace assay::lazarus
