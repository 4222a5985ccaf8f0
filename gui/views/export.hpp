// What is shown, as a file.
#pragma once

#include <QByteArray>
#include <QString>

#include "suite/report/figures/plot.hpp"

class QAbstractItemModel;

namespace assay::gui {

/// RFC 4180: a head line and a line per row, in UTF-8, of a tree with its levels below each other.
QByteArray csv_of(const QAbstractItemModel& rows);

/// False: it could not be written.
bool save_table(const QAbstractItemModel& rows, const QString& file);
/// As its name ends: .svg, or .png of twice the plot's pixels; nothing else.
bool save_picture(const report::Plot& plot, const QString& file);

}  // namespace assay::gui
