// Our words as Qt's.
#pragma once

#include <QString>
#include <string_view>

namespace assay::gui {

inline QString text(std::string_view words) {
    return QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size()));
}

}  // namespace assay::gui
