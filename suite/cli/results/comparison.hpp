// What of a comparison is wanted, which is the words of its options, checked; and what a whole
// comparison comes to.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "suite/cli/command.hpp"
#include "suite/compare/compare.hpp"
#include "suite/report/comparison/comparison_table.hpp"

namespace assay::cli {

/// "2%", "2 %" or "0.02": a relative margin, at least 0 and below 1. UserError.
double parse_margin(const std::string& text);

/// Words of --across: keys that a side's context has. UserError for others; lists those there are.
std::set<std::string> checked_across(const std::vector<std::string>& keys, const compare::Arm& a,
                                     const compare::Arm& b);

/// Words of --better, "GFLOPS=higher", by metric. UserError for another word, or two of one metric.
std::map<std::string, Direction> stated_directions(const std::vector<std::string>& words);

/// Takes the directions of these metrics for what a user says they are. UserError for one that
/// neither side has.
void state_directions(compare::Arm& a, compare::Arm& b,
                      const std::map<std::string, Direction>& better);

/// Metrics of which neither side knows a better direction, and how many series of a side have one:
/// not compared unless asked for.
struct Undirected {
    std::size_t series = 0;
    std::set<std::string> metrics{};
};
Undirected undirected(const compare::Arm& a, const compare::Arm& b);

/// Drops series of other experiments and metrics (by name without labels, or with them). Empty
/// lists keep all; patterns may hold * and ?. UserError for one that neither side has anything of,
/// with the nearest name and those there are. What failed altogether has no metric and stays.
void keep_only(compare::Arm& a, compare::Arm& b, const std::vector<std::string>& experiments,
               const std::vector<std::string>& metrics);

/// Words of --only: regressions (slower, failed), improvements (faster), changes (slower, faster,
/// failed), or a verdict. UserError for others.
std::set<compare::RowVerdict> parse_only(const std::vector<std::string>& words);

/// Rows with one of the verdicts, numbered among all.
std::vector<report::NumberedRow> numbered(const std::vector<compare::Row>& rows,
                                          const std::set<compare::RowVerdict>& only);

/// At most so many, in order: those that tell most.
std::vector<report::NumberedRow> telling_most(std::vector<report::NumberedRow> rows,
                                              std::size_t most);

/// The rows that --explain names: by number, by series, by series and metric, or by a part of these
/// that few enough rows have. UserError otherwise; lists what comes near.
std::vector<report::NumberedRow> rows_named(const std::vector<compare::Row>& rows,
                                            const std::string& typed);

/// "12 rows: 9 same, 1 slower (!), 2 not comparable; 1 without a direction (GFLOPS)": what could
/// not be compared is `left_out`. And the geometric means of the ratios, one per direction of the
/// metrics; bimodal rows are left out of these. (!): a warning belongs to it.
std::string comparison_summary(std::span<const compare::Row>, const Undirected& left_out = {});

/// What to type to compare the rows whose contexts differ all the same; "" where none does.
std::string across_hint(std::span<const compare::Row>, const std::set<std::string>& across);

/// 2: a row is slower or failed, though it did not fail before. Else 3: a row is ambiguous. Else 4:
/// there are rows, and none could be compared; or there is no row. Else 0.
ExitCode comparison_exit_code(std::span<const compare::Row>);

}  // namespace assay::cli
