// Figures of bars: one cluster per category, one bar per variant.
#pragma once

#include "suite/report/figure_panel.hpp"

namespace assay::report {

void draw_bars(SvgCanvas&, const PlotFrame&, const FigurePanel&, const FigureData&,
               const Experiment&);

}  // namespace assay::report
