#include "suite/measure/statistics/history_rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

#include "suite/measure/statistics/quantile.hpp"

namespace assay::statistics {
namespace {

// From zero: none where it stays there, else larger than any threshold.
double relative_change(double from, double to) {
    if (from == to) return 0;
    if (from == 0) return std::numeric_limits<double>::infinity();
    return std::abs(to / from - 1);
}

}  // namespace

std::optional<HistoryVerdict> unusual(std::span<const double> history, double value,
                                      const HistoryOptions& options) {
    if (options.compared_to < 1 || options.smallest <= options.compared_to)
        throw std::invalid_argument("history rule: 1 <= compared_to < smallest");
    if (!std::isfinite(value) ||
        !std::all_of(history.begin(), history.end(), [](double v) { return std::isfinite(v); }))
        throw std::invalid_argument("history rule: values that are not all finite");
    if (history.size() < static_cast<std::size_t>(options.smallest)) return std::nullopt;
    const auto behind = static_cast<std::size_t>(options.compared_to);
    const auto change_to = [&](std::size_t at, double to) {
        return relative_change(median(history.subspan(at - behind, behind)), to);
    };
    std::vector<double> past;
    for (std::size_t i = behind; i < history.size(); ++i) {
        const double change = change_to(i, history[i]);
        if (std::isfinite(change)) past.push_back(change);
    }
    HistoryVerdict verdict;
    verdict.change = change_to(history.size(), value);
    verdict.threshold = options.floor;
    if (!past.empty()) {
        const Quartiles spread = quartiles(past);
        verdict.threshold = std::max(options.floor, spread.third + 3 * spread.range());
    }
    verdict.unusual = verdict.change > verdict.threshold;
    return verdict;
}

}  // namespace assay::statistics
