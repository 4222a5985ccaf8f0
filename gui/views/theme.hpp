// The window's colours: those of the plots, so that both are one picture.
#pragma once

#include <QPalette>

#include "suite/report/figures/plot.hpp"

namespace assay::gui {

QPalette palette_of(report::Theme theme);
/// The application's colours from now on.
void apply(report::Theme theme);

/// What the desktop prefers.
report::Theme preferred_theme();

}  // namespace assay::gui
