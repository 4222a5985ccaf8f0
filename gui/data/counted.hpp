// Numbers of things in words.
#pragma once

#include <QString>

namespace assay::gui {

/// "2 samples", "1 sample"
inline QString counted(qlonglong n, const char* what) {
    return QStringLiteral("%1 %2%3").arg(n).arg(QLatin1String(what),
                                                QLatin1String(n == 1 ? "" : "s"));
}

}  // namespace assay::gui
