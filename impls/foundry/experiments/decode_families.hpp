// Families of graphs that the exact experiments group and store: from which batch sizes on a
// library chooses otherwise is made up, like the libraries' own choices in kind and number of
// changes, and taken from no model.
#pragma once

#include "impls/foundry/method/graphs/decode_family.hpp"

namespace assay::foundry {

/// same: no choice. tiles: other functions for more rows, of equal topology. attention: split up to
/// 32 sequences. products: clusters by the rows' tiles, too. all: programmatic edges, a cooperative
/// attention, priorities and rows of counters beside those.
enum class Choices { same, tiles, attention, products, all };
ASSAY_NAMES(Choices, same, tiles, attention, products, all)

DecodeFamily family_of(Choices choices, int layers);

}  // namespace assay::foundry
