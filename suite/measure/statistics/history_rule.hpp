// Whether today's value is out of the ordinary for a history that has always been a little
// restless: the rule of rustc-perf, a change beyond Q3 + 3 IQR of the history's own past changes.
#pragma once

#include <optional>
#include <span>

namespace assay::statistics {

struct HistoryVerdict {
    double change = 0;     ///< |value / median of the newest points - 1|
    double threshold = 0;  ///< Q3 + 3 IQR of the past changes, never below `floor`
    bool unusual = false;
};
struct HistoryOptions {
    int smallest = 10;    ///< points of history that the rule needs
    int compared_to = 3;  ///< newest points whose median today's value is compared with
    double floor = 0.01;  ///< practical margin
};
/// `history`: earlier values, oldest first, after the last accepted step. nullopt: too short.
/// Past changes are measured as today's is: each point against the median of those before it.
std::optional<HistoryVerdict> unusual(std::span<const double> history, double value,
                                      const HistoryOptions& = {});

}  // namespace assay::statistics
