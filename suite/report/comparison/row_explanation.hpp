// The evidence behind one row of a comparison, for --explain.
#pragma once

#include <string>
#include <vector>

#include "suite/compare/compare.hpp"
#include "suite/report/comparison/comparison_table.hpp"

namespace assay::report {

/// What an explanation needs besides the row.
struct Compared {
    const compare::Arm& a;
    const compare::Arm& b;
    const std::vector<compare::Row>& rows;
    std::size_t columns = 100;  ///< of the texts; values and commands stay whole
};

/// Ratio and interval with its method, margin, medians, clusters, what was not counted, every value
/// with outlier marks, suspects that differ, and what to type to measure it again.
std::string row_explanation(const NumberedRow&, const Compared&);

}  // namespace assay::report
