// Timelines: what happened to whom and when, and below it the throughput where it was recorded.
// Both kinds need whole samples. Last, what they read out of a sample.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/experiment/system.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/view_window.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

using EventKinds = std::span<const EventKind>;

/// Experiments with several variants: overlay_figure(). Others in detail: one block per case,
/// variant, profile, provenance and fault plan (its first sample): lines for faults and what
/// followed, one lane per rank, throughput over the same time. Several fault plans are told apart
/// below the titles.
Plot timeline_figure(const Experiment&, std::span<const store::Sample>, EventKinds,
                     const ViewWindow& = {});

/// The throughput first, then the others as recorded, eight at most; those that are whole.
std::vector<const store::TimeSeries*> painted_curves(const store::Sample&);

/// How far scales reach, whatever is seen: read out once, since of long curves that takes as long
/// as to draw what is seen of them.
struct CurveExtents {
    double end_s = 0;           ///< end_of() the sample
    std::vector<Range> values;  ///< of each of painted_curves(): the finite ones, and 0
};
CurveExtents extents_of(const store::Sample&);

/// One sample in such detail, with every curve of painted_curves(). `width`: of the screen in
/// pixels; longer curves are thinned out for it (decimate.hpp). Other windows change no height.
Plot sample_timeline(const Experiment&, const store::Sample&, const CurveExtents&, EventKinds,
                     std::size_t width, const ViewWindow& = {});

/// The variants of one scenario over one another. One panel per case, profile, provenance and fault
/// plan, with the first sample of each variant: the curve that the figure's metric names
/// (of a sample without it: "throughput", which the head then says); ticks for deaths, leaves and
/// joins; the curve "workers" as steps; per variant a lane with its stops, their reasons where
/// there is room, and pauses. Time in minutes beyond ten of them, which windows are in seconds.
Plot overlay_figure(const Experiment&, std::span<const store::Sample>, EventKinds,
                    const ViewWindow& = {});

// ---- what they read out of a sample: events, words placed so that they do not overlap, curves
// ----

/// The kind of that name; one without a name, a plain mark in the lane of its rank, where nobody
/// declared it.
const EventKind& kind_of(EventKinds, std::string_view name);

/// The colour's slot in the palette of the figures.
std::size_t slot_of(EventColour);

/// The largest finite time of an event or a value in s; without any, how long the sample took.
double recorded_end(const store::Sample&);
/// The same for an axis: 1 s at least where nothing happened after the start.
double end_of(const store::Sample&);

/// The curve of that name; null where there is none with as many times as values, at least one.
const store::TimeSeries* recorded_curve(const store::Sample&, std::string_view name);

/// Seconds that an event lasted: its detail's "seconds"; nullopt, and 0, where it does not say.
std::optional<double> recorded_seconds(const store::Event&);
double lasted(const store::Event&);

/// Why: its detail's "reason", as words ("no replica left"); empty where it does not say.
std::string reason_of(const store::Event&);

/// From when until when a rank was there.
struct Presence {
    double from_s = 0, to_s = 0;
    bool died = false;  ///< it ended with a death
};
/// Of each rank that any event names, in order of time: from 0 unless the first of its arrivals,
/// departures and deaths is an arrival; what changes nothing is ignored; who is there at the end
/// stays until `end_s`.
std::map<int, std::vector<Presence>> presence_of(const store::Sample&, double end_s, EventKinds);

/// Events of one kind that happened at nearly the same moment.
struct TimelineMark {
    EventKind kind;
    double t_s = 0;  ///< of the first
    std::size_t count = 1;
    std::vector<int> ranks;  ///< ascending, each once
    std::string text;  ///< "kill r1 2.400 s", "regroup ×3 +12 ms": after a fault, the time since it
};

/// Of the kinds that get a line and a label, in time order. Events closer than `merge_s` are
/// merged, but never across an event of another kind.
std::vector<TimelineMark> timeline_marks(std::span<const store::Event>, double merge_s, EventKinds);

struct PlacedLabel {
    std::size_t row = 0;  ///< 0 is the lowest
    double left = 0;
    bool shown = true;  ///< false: no row had room
};

/// Gives each label (x of its line, width) a row and a left edge within [low, high]. They choose in
/// `order`, their numbers; empty: as they stand.
std::vector<PlacedLabel> place_labels(std::span<const std::pair<double, double>> x_and_width,
                                      double low, double high, std::size_t most_rows,
                                      std::span<const std::size_t> order = {});

}  // namespace assay::report
