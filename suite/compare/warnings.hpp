// What must be read beside a verdict, since the verdict may mislead without it.
#pragma once

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

/// Both sides are of one build (of one clean commit, where the builds are not told).
bool is_one_program(const Arm& a, const Arm& b);

/// The experiments, each once, that `assay versus` would compare better than these few sessions of
/// different times do: of measured or emulated rows that are not the same. Empty: of none.
std::vector<std::string> better_in_turns(const std::vector<Row>&, const Arm& a, const Arm& b);

}  // namespace assay::compare
