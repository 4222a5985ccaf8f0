#include "suite/base/quantity_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

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

std::optional<std::int64_t> whole_number(double number) {
    constexpr double skips_some = 9007199254740992;
    if (std::trunc(number) != number || !(std::abs(number) < skips_some)) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return whole_number(number);
}

}  // namespace assay
