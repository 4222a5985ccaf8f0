// What of a comparison is wanted: the words of its options, checked.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "suite/cli/comparison_table.hpp"
#include "suite/compare/compare.hpp"

namespace assay::cli {

/// "2%", "2 %" or "0.02": a relative margin, at least 0 and below 1. UserError.
double parse_margin(const std::string& text);

/// Words of --across: keys that a side's context has. UserError for others; lists those there are.
std::set<std::string> checked_across(const std::vector<std::string>& keys, const compare::Arm& a,
                                     const compare::Arm& b);

/// Drops series of other experiments and metrics (by name without labels, or with them). Empty
/// lists keep all; patterns may hold * and ?. UserError when nothing is left of either side.
void keep_only(compare::Arm& a, compare::Arm& b, const std::vector<std::string>& experiments,
               const std::vector<std::string>& metrics);

/// Words of --only: regressions (slower, failed), improvements (faster), changes (slower, faster,
/// failed), or a verdict. UserError for others.
std::set<compare::Verdict> parse_only(const std::vector<std::string>& words);

/// Rows with one of the verdicts, numbered among all.
std::vector<NumberedRow> numbered(const std::vector<compare::Row>& rows,
                                  const std::set<compare::Verdict>& only);

/// The rows that --explain names: by number, by series, by series and metric, or by a part of these
/// that few enough rows have. UserError otherwise; lists what comes near.
std::vector<NumberedRow> rows_named(const std::vector<compare::Row>& rows,
                                    const std::string& typed);

}  // namespace assay::cli
