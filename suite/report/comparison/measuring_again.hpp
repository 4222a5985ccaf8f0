// What to type to measure again what a comparison could not decide, and how long it takes.
#pragma once

#include <string>

#include "suite/compare/deciding.hpp"
#include "suite/experiment/system.hpp"

namespace assay::report {

/// What measures the row once more: `assay run …` of the series, or the benchmark program with a
/// filter (where its file names the program); empty: nothing is known to run.
std::string rerun_command(const compare::Row&, const compare::Arm& a, const compare::Arm& b);

/// One line: how many rows are ambiguous, and what would decide them.
std::string deciding_line(const compare::Deciding&, const Registry&, const compare::Arm& b);

}  // namespace assay::report
