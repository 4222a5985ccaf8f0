// A night with a row under every heading, for the tests of its reports.
#pragma once

#include "suite/gate/night.hpp"

namespace assay::gate {

/// A compared row, lower is better, paired, margin 2 %.
compare::Row compared_row(RowId id, double ratio, double half_width, compare::RowVerdict verdict,
                          compare::Reason reason);

/// Judged; texts in it would break a report that does not escape them.
Night eventful_night();
/// Two rows, the same as ever.
Night quiet_night();
/// The first night of a suite: no baseline.
Night first_night();

}  // namespace assay::gate
