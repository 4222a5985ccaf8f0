// What the view of one sample shows: who was there, what happened when, what was measured
// meanwhile. Plain values; no Qt.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/timeline.hpp"
#include "suite/report/figures/view_window.hpp"
#include "suite/store/device_readings.hpp"
#include "suite/store/store.hpp"

namespace assay::gui {

struct TimelineLane {
    int rank = 0;
    std::vector<std::pair<double, double>> present;  ///< from, to in s
};

struct TimelineMark {
    double t_s = 0;
    std::string kind;
    std::optional<int> rank;
    std::optional<double> seconds;  ///< it lasted
    nlohmann::json detail;
};

struct TimelineCurve {
    std::string name, unit;
    Labels labels;
    std::size_t
        points = 0,
        drawn = 0;  ///< recorded, and painted at the view's width: 0 of curves beyond the eighth
    std::optional<double> low, high, drawn_low, drawn_high;  ///< nullopt: nothing finite
};

struct Timeline {
    store::Sample sample;  ///< whole; behind its curves those of its devices, until end_s
    double end_s = 0;      ///< of the last event or value; without any, what the sample took
    std::vector<TimelineLane> lanes;  ///< by rank
    std::vector<TimelineMark> marks;  ///< every event by time, then as recorded
    std::vector<TimelineCurve> curves;
    std::vector<store::DeviceReadings> hardware;
    report::CurveExtents extents;
    report::Plot plot{"", "", ""};  ///< with clocks, temperatures and when a device was throttled
};

/// Its plot, for a part of its time.
report::Plot draw_timeline(const Registry& registry, const Timeline& timeline, std::size_t width,
                           const report::ViewWindow& window = {});

/// `sample`: an id or the beginning of one; `width`: pixels that curves are painted on. Throws
/// store::StoreError.
Timeline read_timeline(const Registry& registry, const store::Store& store,
                       const std::string& sample, std::size_t width);

}  // namespace assay::gui
