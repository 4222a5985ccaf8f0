// The evidence behind one row of a comparison, for --explain.
#pragma once

#include <string>
#include <vector>

#include "suite/cli/comparison_table.hpp"
#include "suite/compare/compare.hpp"

namespace assay::cli {

/// What an explanation needs besides the row.
struct Compared {
    const compare::Arm& a;
    const compare::Arm& b;
    const compare::Options& options;
    const std::vector<compare::Row>& rows;
};

/// Ratio and interval with its method, margin, medians, rank test (corrected for all rows), shift,
/// clusters, what was not counted, every value with outlier marks, suspects that differ, and what
/// to type to measure it again.
std::string row_explanation(const NumberedRow&, const Compared&);

}  // namespace assay::cli
