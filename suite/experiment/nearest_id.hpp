// "Did you mean …": the known word closest to a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The candidate with the smallest edit distance (insertions, deletions, substitutions, swaps of
/// neighbours; letter case is free). For ids with a '/', what follows it is tried alone too, so
/// that "fig8" finds "lazarus/fig8". Nothing when even the best shares too little to be a slip:
/// more than half of its letters would have to change.
std::optional<std::string> nearest_id(std::string_view typed,
                                      const std::vector<std::string>& candidates);

}  // namespace assay
