// The loads file: one line per mixture-of-experts layer, on it the tokens that each of the layer's
// experts got, separated by white space or commas. A file with one number per line is one layer.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string_view>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// [layer][expert]; all layers have the same number of experts, at least one. Empty lines are
/// skipped. Commas may be surrounded by blanks; on its line a comma must stand between two numbers.
/// Throws UserError "NAME:LINE:COLUMN: …" for whatever is no count of tokens: text (a header, NaN),
/// a negative, fractional or too large (above 2^63-1) number, a column that counts lines (layer or
/// step numbers, see below), a comma without a number, lines of different lengths, or no number at
/// all. `name` is what the message calls the text.
///
/// One of the first two columns of several lines counts when it rises by the same step from line to
/// line, in ones also from its start anew (0 1 2 0 1 2): on three lines or more whatever the step,
/// on two from 0 or 1 in ones beside much larger loads. Not where every column does so, or where
/// the lines have equal sums as they stand, or sums that lie less than half as far apart with the
/// column as without it: each layer routes about the same tokens, so these are loads.
std::vector<Loads> parse_loads(std::string_view text, std::string_view name);

/// No loads file is larger than this; room for more than 3 million experts of any load.
inline constexpr std::size_t largest_loads_bytes = std::size_t{64} << 20U;

/// Reads to the end, but never more than that: a larger stream is a UserError.
std::vector<Loads> read_loads(std::istream& stream, std::string_view name);

}  // namespace assay::lazarus
