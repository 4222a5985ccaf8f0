#include "suite/gate/night_strip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/gate/night_verdict.hpp"

namespace assay::gate {
namespace {

constexpr double width = 180, height = 16, middle = height / 2;
/// Far outliers lie at the edge instead of pressing all others into the middle.
const double most_reach = std::log(1.5);

struct LogInterval {
    double low, centre, high;
};

/// Of the slowdown; without an interval the ratio alone.
LogInterval log_interval(const compare::Row& row) {
    const double sign = row.better == Direction::higher ? -1 : 1;
    const double centre = sign * std::log(row.ratio);
    if (!(row.low > 0) || !(row.high > 0)) return {centre, centre, centre};
    const double a = sign * std::log(row.low), b = sign * std::log(row.high);
    return {std::min(a, b), centre, std::max(a, b)};
}

std::string_view colour(const compare::Row& row) {
    if (row.verdict == compare::Verdict::slower) return "s-bad";
    return row.verdict == compare::Verdict::faster ? "s-good" : "s-none";
}

}  // namespace

Strips::Strips(const Night& night) {
    double widest = 2 * std::log1p(night.margin);
    for (const NightRow& row : night.rows) {
        if (!slowdown(row.against_baseline)) continue;
        const LogInterval interval = log_interval(row.against_baseline);
        for (const double edge :
             {interval.low, interval.high, std::log1p(row.against_baseline.margin)})
            if (std::isfinite(edge)) widest = std::max(widest, 1.1 * std::abs(edge));
    }
    reach_ = std::min(widest, most_reach);
}

std::string Strips::svg(const compare::Row& row) const {
    if (!slowdown(row)) return "";
    const auto x = [&](double log_ratio) {
        return width / 2 * (1 + std::clamp(log_ratio / reach_, -1.0, 1.0));
    };
    const LogInterval at = log_interval(row);
    const double margin = std::log1p(row.margin);
    return fmt::format(
        "<svg class=\"strip\" viewBox=\"0 0 {w:g} {h:g}\" width=\"{w:g}\" height=\"{h:g}\" "
        "role=\"img\" aria-label=\"interval\"><rect class=\"s-margin\" x=\"{ml:.1f}\" y=\"0\" "
        "width=\"{mw:.1f}\" height=\"{h:g}\"/><line class=\"s-one\" x1=\"{one:.1f}\" y1=\"0\" "
        "x2=\"{one:.1f}\" y2=\"{h:g}\"/><line class=\"{c}\" x1=\"{lo:.1f}\" y1=\"{m:g}\" "
        "x2=\"{hi:.1f}\" y2=\"{m:g}\"/><circle class=\"{c}\" cx=\"{at:.1f}\" cy=\"{m:g}\" "
        "r=\"3.5\"/></svg>",
        fmt::arg("w", width), fmt::arg("h", height), fmt::arg("m", middle),
        fmt::arg("ml", x(-margin)), fmt::arg("mw", x(margin) - x(-margin)),
        fmt::arg("one", width / 2), fmt::arg("c", colour(row)), fmt::arg("lo", x(at.low)),
        fmt::arg("hi", x(at.high)), fmt::arg("at", x(at.centre)));
}

std::string Strips::legend() const {
    const double percent = std::expm1(reach_) * 100;
    return fmt::format(
        "Strips reach from {0:.0f} % faster (left) to {0:.0f} % slower (right); "
        "shaded: the row's margin.",
        percent);
}

}  // namespace assay::gate
