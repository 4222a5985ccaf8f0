// The figure of an experiment.
#pragma once

#include <span>
#include <string>

#include "suite/experiment/system.hpp"
#include "suite/report/figures/figure_data.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/view_window.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

/// The figure of one experiment, 800 px wide. Paper values as hollow marks, ours solid, one colour
/// per variant. Timelines need whole samples (Store::sample), the others metrics only; `kinds` are
/// those of the events that they draw.
Plot experiment_plot(const Experiment&, std::span<const store::Sample>, std::span<const Claim>,
                     std::span<const EventKind> kinds = suite_event_kinds(),
                     const ViewWindow& = {});

/// The same of what figure_data() read, which is enough to draw it again for another window; no
/// timelines.
Plot data_plot(const Experiment&, const FigureData&, const ViewWindow& = {});

/// The same as an SVG document.
std::string svg_figure(const Experiment&, std::span<const store::Sample>, std::span<const Claim>,
                       std::span<const EventKind> kinds = suite_event_kinds());

}  // namespace assay::report
