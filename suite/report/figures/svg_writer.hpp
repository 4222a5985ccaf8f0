// Writes a plot as an SVG document. Light colours are written as attributes, so that any viewer
// shows them; classes let a style sheet turn them dark.
#pragma once

#include <string>

#include "suite/report/figures/plot.hpp"

namespace assay::report {

std::string to_svg(const Plot& plot);

}  // namespace assay::report
