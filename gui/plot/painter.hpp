// Paints a plot of the report with Qt: the same shapes in the same places as its SVG.
#pragma once

#include <QColor>
#include <QPainter>
#include <QPointF>
#include <QString>

#include "suite/report/figures/plot.hpp"

namespace assay::gui {

/// report::colour_of() as Qt has it.
QColor colour(report::Paint paint, report::Theme theme, bool of_line = false);

/// In the plot's own pixels, from the painter's origin.
void paint(QPainter& painter, const report::Plot& plot, report::Theme theme);

/// The words of the topmost mark or bar there that has any; empty where there is none.
QString tooltip_at(const report::Plot& plot, QPointF at);

}  // namespace assay::gui
