// What a figure's view shows: the plot that the report draws, the numbers in it, and the claims on
// it. Plain values; no Qt.
#pragma once

#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/report/figures/figure_data.hpp"
#include "suite/report/figures/plot.hpp"
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
};

/// Throws UnknownExperiment, store::StoreError.
FigureContent read_figure(const Registry& registry, const store::Store& store,
                          const std::string& id);

}  // namespace assay::gui
