// What a row must reach by itself, in its metric's unit (a time, a share of the machine's own
// limits): judges a machine that has no other night to compare with. Pure.
#pragma once

#include <string>
#include <vector>

#include "suite/gate/night.hpp"
#include "suite/gate/plan/suite_file.hpp"
#include "suite/report/text/row_name.hpp"

namespace assay::gate {

/// What came of the levels that concern a machine with these GPUs (their names).
struct LevelFindings {
    std::vector<std::string> below;     ///< a sentence for each row that does not reach its level
    std::vector<std::string> warnings;  ///< levels that no row of the night is of, GPUs of a model
                                        ///< that no level is for
    std::vector<std::string> failures;  ///< levels that ask against the direction of their metric
    int reached = 0;                    ///< rows
};

/// What is wrong with a level where the metric's other way is better, a sentence; empty: nothing.
/// Without direction either bound will do.
std::string against_direction(const SuiteLevel&, Direction better);

/// By the median of tonight's values; muted rows are left out. The arms' pointers must be there.
LevelFindings judge_levels(const std::vector<NightRow>& rows, const std::vector<SuiteLevel>& levels,
                           const std::vector<std::string>& gpus, const report::RowNames& names);

}  // namespace assay::gate
