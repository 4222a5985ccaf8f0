// What must be read beside a verdict, since the verdict may mislead without it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "suite/compare/compare.hpp"

namespace assay::compare {

/// To both rows of each series of which real_time and cpu_time moved beyond their margins in
/// opposite directions: that they disagree, and what that may mean.
void warn_of_disagreeing_times(std::vector<Row>&);

/// To each row with values on both sides of which a larger share failed in B than in A: what is
/// compared are the others, and a crash is no speed.
void warn_of_new_failures(std::vector<Row>&);

/// To each row that a machine decided (measured or emulated, with a value on both sides): that the
/// machine was busy before a side was measured, set up differently or another one (by host and
/// clock of a benchmark's file), as the sessions' records say; and to those that changed, that both
/// sides are of one program.
void warn_of_circumstances(std::vector<Row>&, const Arm& a, const Arm& b);

/// Of sides that have no row in common: what either has, as "A has lte/fig8 (120 rows), …"; ""
/// where they have one, or there is no row at all.
std::string nothing_in_common(std::span<const Row>);

/// Rows of experiments that one side lacks altogether.
std::vector<const Row*> of_one_side(std::span<const Row>);
/// "only A has lte/fig8 (120 rows); only B has …" of such rows; "" of none.
std::string one_side_words(std::span<const Row* const>);

/// Both sides are of one build (of one clean commit, where the builds are not told).
bool is_one_program(const Arm& a, const Arm& b);
/// Likewise the row: one of a suite's benchmark is of the program that was started, as the sessions
/// say which that was; not known is not one.
bool is_one_program(const Arm& a, const Arm& b, const RowId& row);

/// The experiments, each once, that `assay versus` would compare better than these few sessions of
/// different times do: of measured or emulated rows that are not the same. Empty: of none.
std::vector<std::string> better_in_turns(const std::vector<Row>&, const Arm& a, const Arm& b);

}  // namespace assay::compare
