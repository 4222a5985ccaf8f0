// The upper part of a sample's timeline: a lane per rank with what happened to it, one for what
// happened to all, and a row for each kind that is too frequent for either.
#pragma once

#include <map>
#include <vector>

#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/timeline.hpp"

namespace assay::report {

/// The lanes of one sample on one time axis.
class TimelineLanes {
  public:
    TimelineLanes(const store::Sample&, double end_s, EventKinds);

    double height() const;  ///< of the lanes
    double rows_height() const;
    /// What colours and shapes mean, of the kinds that there are; returns the y below.
    double draw_legend(Plot&, double y) const;
    /// Who was there when, from `frame`'s top down.
    void draw_presence(Plot&, const PlotFrame& frame) const;
    void draw_events(Plot&, const PlotFrame& frame) const;
    /// The rows, from `y` down.
    void draw_rows(Plot&, const PlotFrame& frame, double y) const;

  private:
    struct LaneEvent {
        const store::Event* event;
        const EventKind* kind;
    };
    static constexpr int all = -1;  ///< the lane of events that have no rank

    void draw_lane(Plot&, const PlotFrame& frame, const std::vector<LaneEvent>&,
                   double middle) const;

    std::map<int, std::vector<Presence>> present_;
    std::map<int, std::vector<LaneEvent>> events_;                        ///< by lane
    std::vector<std::pair<const EventKind*, std::vector<double>>> rows_;  ///< with their times
    std::vector<const EventKind*> met_;  ///< in the order of their declaration, but for rows
};

}  // namespace assay::report
