#include "suite/base/quantity_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace assay {
namespace {

/// A unit as so many of a basic one.
struct Scaled {
    double factor;
    std::string_view unit;
};

Scaled scaled(std::string_view unit) {
    struct Prefix {
        std::string_view text;
        double factor;
    };
    static constexpr Prefix prefixes[] = {
        {"Ki", 1024}, {"Mi", 1048576}, {"Gi", 1073741824}, {"Ti", 1099511627776},
        {"n", 1e-9},  {"u", 1e-6},     {"µ", 1e-6},        {"m", 1e-3},
        {"k", 1e3},   {"K", 1e3},      {"M", 1e6},         {"G", 1e9},
        {"T", 1e12},  {"P", 1e15}};
    if (unit == "min") return {60, "s"};
    if (unit == "h") return {3600, "s"};
    if (unit == "%") return {0.01, "share"};
    if (unit == "FLOPS") return {1, "FLOP/s"};
    for (const std::string_view known :
         {"s", "B", "B/s", "Hz", "W", "J", "FLOP", "FLOP/s", "FLOPS"}) {
        if (!unit.ends_with(known)) continue;
        for (const Prefix& prefix : prefixes)
            if (unit.substr(0, unit.size() - known.size()) == prefix.text)
                return {prefix.factor, known == "FLOPS" ? "FLOP/s" : known};
    }
    return {1, unit};
}

}  // namespace

std::optional<double> unit_factor(std::string_view from, std::string_view to) {
    if (from == to) return 1;
    const Scaled one = scaled(from), other = scaled(to);
    if (one.unit != other.unit) return std::nullopt;
    return one.factor / other.factor;
}

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
