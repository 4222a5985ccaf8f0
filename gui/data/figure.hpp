// What a figure's view shows: the plot that the report draws, the numbers in it, and the claims on
// it. Plain values; no Qt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/report/figures/figure_data.hpp"
#include "suite/report/figures/plot.hpp"
#include "suite/report/figures/view_window.hpp"
#include "suite/store/store.hpp"

namespace assay::gui {

struct JudgedClaim {
    const Claim* claim = nullptr;  ///< of the registry
    ClaimCheck check;
};

struct FigureContent {
    const Experiment* experiment = nullptr;  ///< of the registry
    report::Plot plot{"", "", ""};
    report::FigureData data;          ///< no panels: a timeline, or there are no samples
    std::vector<JudgedClaim> claims;  ///< settings too, in the registry's order
    /// The newest ones: of timelines whole, else without curves, tables, artifacts and readings.
    std::vector<store::Sample> samples;
};

/// One that a claim's check looks at.
struct ClaimSample {
    std::string id, variant, axes, profile, provenance;
    std::uint64_t seed = 0;
    std::optional<double> value;  ///< of the claim's metric; of several the first that is asked for
    std::string unit;
};

/// The samples behind a claim: those of its variants, axes and labels, at a profile and provenance
/// at which it can be checked.
std::vector<ClaimSample> samples_behind(const JudgedClaim& judged,
                                        const std::vector<store::Sample>& samples);

/// The figure for a part of its axes, of what was read.
report::Plot draw_figure(const Registry& registry, const FigureContent& figure,
                         const report::ViewWindow& window = {});

/// Throws UnknownExperiment, store::StoreError.
FigureContent read_figure(const Registry& registry, const store::Store& store,
                          const std::string& id);

}  // namespace assay::gui
