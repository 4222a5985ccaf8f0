// The rows of two builds: compare()'s, held against what the adaptive rounds decided.
#pragma once

#include <vector>

#include "suite/compare/compare.hpp"
#include "suite/runner/contrast.hpp"

namespace assay::runner {

/// Keeps the rows of the experiments and metrics that `contrasts` are about, in their order, and
/// those of series that failed altogether. A verdict of compare() that its contrast does not share
/// becomes ambiguous: an interval of one look is too narrow for rounds that were looked at one by
/// one. Rows of two clusters get the verdict of their contrast. Deterministic metrics need no
/// interval and stay as they are. Ratio and interval of a row are those of its rounds, unless
/// compare() alone left it undecided: a row never tells two. There is one row per metric of a
/// series: of several (samples that failed before they had read their data stand apart) the first
/// that has values, which says what the others are.
std::vector<compare::Row> versus_rows(std::vector<compare::Row> rows,
                                      const std::vector<Contrast>& contrasts);

}  // namespace assay::runner
