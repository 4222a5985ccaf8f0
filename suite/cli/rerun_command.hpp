// What to type to measure a row of a comparison once more.
#pragma once

#include <string>

#include "suite/compare/compare.hpp"

namespace assay::cli {

/// `assay run …` of the series, or the benchmark program with a filter (where its file names the
/// program); empty: nothing is known to run.
std::string rerun_command(const compare::Row&, const compare::Arm& a, const compare::Arm& b);

}  // namespace assay::cli
