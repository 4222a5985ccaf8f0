#include "gui/data/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "suite/report/figures/decimate.hpp"
#include "suite/report/figures/timeline.hpp"

namespace assay::gui {
namespace {

std::vector<TimelineLane> lanes_of(const store::Sample& sample, double end_s,
                                   report::EventKinds kinds) {
    std::vector<TimelineLane> lanes;
    for (const auto& [rank, present] : report::presence_of(sample, end_s, kinds)) {
        lanes.push_back({rank, {}});
        for (const report::Presence& there : present)
            lanes.back().present.emplace_back(there.from_s, there.to_s);
    }
    return lanes;
}

std::vector<TimelineMark> marks_of(const store::Sample& sample) {
    std::vector<TimelineMark> marks;
    for (const store::Event& event : sample.events) {
        TimelineMark mark{event.t_s, event.kind, {}, report::recorded_seconds(event), event.detail};
        if (event.rank >= 0) mark.rank = event.rank;
        marks.push_back(std::move(mark));
    }
    std::stable_sort(marks.begin(), marks.end(),
                     [](const TimelineMark& a, const TimelineMark& b) { return a.t_s < b.t_s; });
    return marks;
}

TimelineCurve curve_of(const store::TimeSeries& series, bool is_painted, std::size_t width) {
    TimelineCurve curve{series.name, series.unit, series.labels, series.values.size()};
    const auto see = [](std::optional<double>& low, std::optional<double>& high, double value) {
        low = std::min(low.value_or(value), value);
        high = std::max(high.value_or(value), value);
    };
    for (const double value : series.values)
        if (std::isfinite(value)) see(curve.low, curve.high, value);
    if (!is_painted) return curve;
    const auto painted = report::points_to_paint(series.t_s, series.values, width);
    for (const std::size_t i : painted) see(curve.drawn_low, curve.drawn_high, series.values[i]);
    curve.drawn = painted.size();
    return curve;
}

/// What the monitor read of each device until `end_s`, as curves below those of the sample.
std::vector<store::TimeSeries> hardware_curves(const store::Sample& sample, double end_s) {
    std::map<std::string, std::array<store::TimeSeries, 3>> devices;
    const auto add = [](store::TimeSeries& curve, double t_s, std::optional<double> value) {
        if (!value) return;
        curve.t_s.push_back(t_s);
        curve.values.push_back(*value);
    };
    for (const store::HardwareReading& reading : sample.hardware) {
        if (reading.t_s > end_s) continue;
        auto& [clock, temperature, throttled] = devices[reading.device];
        add(clock, reading.t_s,
            reading.clock_hz ? std::optional(*reading.clock_hz / 1e9) : std::nullopt);
        add(temperature, reading.t_s, reading.temperature_c);
        add(throttled, reading.t_s, reading.throttle_reasons.empty() ? 0 : 1);
    }
    std::vector<store::TimeSeries> curves;
    for (auto& [device, of] : devices) {
        auto& [clock, temperature, throttled] = of;
        const auto take = [&](store::TimeSeries& curve, const char* name, const char* unit) {
            curve.name = name + (" " + device);
            curve.unit = unit;
            curves.push_back(std::move(curve));
        };
        if (!clock.values.empty()) take(clock, "clock", "GHz");
        if (!temperature.values.empty()) take(temperature, "temperature", "°C");
        if (std::find(throttled.values.begin(), throttled.values.end(), 1.0) !=
            throttled.values.end())
            take(throttled, "throttled", "");
    }
    return curves;
}

// A result may come from a program that knows more experiments than this one.
Experiment experiment_of(const Registry& registry, const store::Sample& sample) {
    if (const Experiment* known = registry.experiment(sample.spec.experiment)) return *known;
    Experiment unknown;
    unknown.id = sample.spec.experiment;
    return unknown;
}

}  // namespace

report::Plot draw_timeline(const Registry& registry, const Timeline& timeline, std::size_t width,
                           const report::ViewWindow& window) {
    const Experiment experiment = experiment_of(registry, timeline.sample);
    return report::sample_timeline(experiment, timeline.sample, timeline.extents,
                                   registry.event_kinds(experiment), width, window);
}

Timeline read_timeline(const Registry& registry, const store::Store& store,
                       const std::string& sample, std::size_t width) {
    Timeline timeline;
    timeline.sample = store.sample(sample);
    store::Sample& read = timeline.sample;
    const std::vector<EventKind> kinds = registry.event_kinds(experiment_of(registry, read));
    timeline.end_s = report::recorded_end(read);
    timeline.lanes = lanes_of(read, timeline.end_s, kinds);
    timeline.marks = marks_of(read);
    const auto painted = report::painted_curves(read);
    for (const store::TimeSeries& series : read.series_data)
        timeline.curves.push_back(curve_of(
            series, std::find(painted.begin(), painted.end(), &series) != painted.end(), width));
    timeline.hardware = store::device_readings(read.hardware);
    for (store::TimeSeries& curve : hardware_curves(read, timeline.end_s))
        read.series_data.push_back(std::move(curve));
    timeline.extents = report::extents_of(read);
    timeline.plot = draw_timeline(registry, timeline, width);
    return timeline;
}

}  // namespace assay::gui
