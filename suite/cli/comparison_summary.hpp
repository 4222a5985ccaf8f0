// What a whole comparison comes to.
#pragma once

#include <span>
#include <string>

#include "suite/cli/command.hpp"
#include "suite/compare/compare.hpp"

namespace assay::cli {

/// "12 rows: 9 same, 1 slower (!), 2 not comparable" and the geometric means of the ratios, one per
/// direction of the metrics; bimodal rows are left out of these. (!): a warning belongs to it.
std::string comparison_summary(std::span<const compare::Row>);

/// 2: a row is slower or failed, though it did not fail before. Else 3: a row is ambiguous. Else 4:
/// there are rows, and none could be compared; or there is no row. Else 0.
ExitCode comparison_exit_code(std::span<const compare::Row>);

}  // namespace assay::cli
