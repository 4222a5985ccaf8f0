// A comparison as a picture: the ratio of each row with its interval, and the margin within which
// nothing matters.
#pragma once

#include <span>

#include "suite/compare/compare.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/view_window.hpp"

namespace assay::gui {

/// Rows that have a ratio, in their order, at most `most_rows` of them; the last line says how many
/// are not drawn.
report::Plot ratio_plot(const compare::Arm& a, const compare::Arm& b,
                        std::span<const compare::Row> rows, const report::ViewWindow& window = {},
                        std::size_t most_rows = 80);

}  // namespace assay::gui
