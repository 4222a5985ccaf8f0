// Where panels go on the page, and what every panel has: frame, grid, axes, title and badge.
#pragma once

#include <string>
#include <vector>

#include "suite/report/figures/axis_scale.hpp"
#include "suite/report/figures/figure_data.hpp"
#include "suite/report/figures/plot.hpp"

namespace assay::report {

/// Columns of the grid of panels: complete rows of the innermost splitting axis where that fits.
std::size_t panel_columns(std::size_t panels, std::size_t last_split);

/// Between its ends the head leaves the strip right above the area free.
struct HeadGap {
    double from = 0, to = 0;
};
HeadGap draw_panel_head(Plot&, const PlotArea&, const std::string& title, const std::string& badge);
void draw_y_axis(Plot&, const PlotFrame&);
void draw_numeric_x_axis(Plot&, const PlotFrame&);

/// Room below a panel that its categories need: one line, or more when they must be slanted.
double category_height(const std::vector<std::string>& categories, double width);
void draw_category_axis(Plot&, const PlotFrame&, const std::vector<std::string>& categories);

/// What the hollow marks are, and where the paper's data differ from ours.
std::string paper_legend(const FigureData&);

/// Title, fixed axes and legend; returns the y below them. The figure's marks explain themselves
/// here.
double draw_head(Plot&, const Experiment&, const FigureData&);

/// A sentence in the middle of an otherwise empty figure.
Plot empty_figure(const Experiment&, const std::string& sentence);

/// Scale for the y axis over these panels: probabilities span 0 to 1, what starts near zero starts
/// at zero, bars always do.
AxisScale y_scale(const Experiment&, const std::vector<FigurePanel>&);

}  // namespace assay::report
