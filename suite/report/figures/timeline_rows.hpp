// Below the curves of several variants: who came and went, how many were there, and when which
// variant was interrupted.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "suite/report/figures/figure_panel.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/timeline.hpp"

namespace assay::report {

inline constexpr double timeline_left = 74, timeline_right_margin = 16;
inline constexpr double timeline_width = figure_width - timeline_left - timeline_right_margin;
inline constexpr double timeline_row_height = 13;

/// Who ran under the same conditions, by slot.
using Rivals = std::map<std::size_t, const store::Sample*>;

/// Scenario time, in the unit of the axis.
struct Clock {
    double per_unit_s = 1;
    std::string_view unit = "s";
    AxisScale scale;

    explicit Clock(const Rivals&, const ViewWindow& = {});
    double px(double t_s) const {
        return timeline_left + scale.position(t_s / per_unit_s) * timeline_width;
    }
    AxisScale in_seconds() const;  ///< the axis, for those who ask what time is there
    double merge_s() const;        ///< ticks closer than this become one with a count
    std::string text(double t_s) const;
};

/// Of what is drawn along the axis: nothing beside it.
inline constexpr PlotArea timeline_area{timeline_left, 0, timeline_width, 1e6};

void draw_side_title(Plot&, double top, double height, const std::string& title);

// Each draws from `y` down and returns the y below.

/// Rows of ticks for deaths, departures and arrivals. The membership that most rivals share is the
/// scenario's; where they disagree each has a row, so that nobody takes one's for all.
double draw_membership(Plot&, const Clock&, const Rivals&, double curve_top, double y, EventKinds);
/// Live workers as steps; rivals with the same numbers share one line.
double draw_workers(Plot&, const Clock&, const Rivals&, double y);
/// A lane for each rival that stopped or paused.
double draw_interruptions(Plot&, const Clock&, const Rivals&, double y, EventKinds);

}  // namespace assay::report
