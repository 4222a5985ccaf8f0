#include "gui/data/between.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "suite/report/figures/timeline.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::gui {
namespace {

double value_at(const store::TimeSeries& curve, double t_s) {
    const auto after = std::upper_bound(curve.t_s.begin(), curve.t_s.end(), t_s);
    if (after == curve.t_s.begin()) return NAN;
    return curve.values[static_cast<std::size_t>(after - curve.t_s.begin()) - 1];
}

}  // namespace

std::string happened_between(const store::Sample& sample, const report::Range& seconds) {
    std::string words;
    for (const store::TimeSeries* curve : report::painted_curves(sample)) {
        const double from = value_at(*curve, seconds.low), to = value_at(*curve, seconds.high);
        if (!std::isfinite(from) || !std::isfinite(to)) continue;
        words +=
            fmt::format("{}{} {} → {} ({}{}){}{}", words.empty() ? "" : "; ", curve->name,
                        report::number(from), report::number(to), to < from ? "" : "+",
                        report::number(to - from), curve->unit.empty() ? "" : " ", curve->unit);
    }
    std::map<std::string, long> counts;
    for (const store::Event& event : sample.events)
        if (seconds.contains(event.t_s)) ++counts[event.kind];
    words += words.empty() ? "" : "\n";
    if (counts.empty()) return words + "nothing happened between";
    std::string happened;
    for (const auto& [kind, count] : counts)
        happened += fmt::format("{}{} × {}", happened.empty() ? "" : ", ", count, kind);
    return words + "between: " + happened;
}

}  // namespace assay::gui
