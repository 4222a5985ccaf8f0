// The cells of a paper's table beside ours.
#pragma once

#include <span>

#include "suite/claim/claim.hpp"
#include "suite/report/text/text_table.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

/// Row, column, paper, ours, for each cell of the claim; empty without cells. Ours is the median of
/// the claim's metric over samples where the cell's row and column are the variant, or the value of
/// an axis or label: "–" where no sample is there.
Grid cells_grid(const Claim&, std::span<const store::Sample>);

}  // namespace assay::report
