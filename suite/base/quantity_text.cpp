#include "suite/base/quantity_text.hpp"

#include <fmt/format.h>

namespace assay {

std::string duration_text(double seconds) {
    if (seconds < 1) return fmt::format("{:.2g} s", seconds);
    if (seconds < 120) return fmt::format("{:.0f} s", seconds);
    if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
    return fmt::format("{:.1f} h", seconds / 3600);
}

std::string bytes_text(double bytes) {
    for (const char* unit : {"B", "kB", "MB", "GB"}) {
        if (bytes < 1000) return fmt::format("{:.3g} {}", bytes, unit);
        bytes /= 1000;
    }
    return fmt::format("{:.3g} TB", bytes);
}

}  // namespace assay
