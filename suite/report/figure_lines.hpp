// Figures of lines: one curve per variant over a numeric or categorical x.
#pragma once

#include "suite/report/figure_panel.hpp"

namespace assay::report {

void draw_lines(SvgCanvas&, const PlotFrame&, const FigurePanel&, const FigureData&,
                const Experiment&);

/// x over all panels, so that panels compare; logarithmic where the values grow that way.
AxisScale x_scale(const FigureData&);

}  // namespace assay::report
