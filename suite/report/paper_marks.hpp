// Where a paper's printed values belong in a figure of lines or bars.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "suite/experiment/claim.hpp"
#include "suite/report/figure_data.hpp"

namespace assay::report {

/// A published number that is a point of this figure: bounds and ratios of two series are not.
bool is_figure_point(const Claim&, const Experiment&);

/// How a panel answers what a claim selects.
struct PanelMatch {
    enum class Kind { none, other_input, full } kind = Kind::none;
    std::string inputs;  ///< other_input: "its trace: smartmoe, ours: synthetic"
};

/// `names` are the axes and labels that split panels, `values` those of one panel in that order;
/// `x` is left out of the comparison. Only an input of the experiment, an axis that one of the
/// claims `needs` ("trace:smartmoe"), may differ: a value of another model or step would mislead.
PanelMatch match_panel(const Claim&, std::span<const Claim> claims,
                       const std::vector<std::string>& names,
                       const std::vector<OrderedValue>& values, const std::string& x);

}  // namespace assay::report
