// What part of a figure's axes is to be seen: a figure is drawn anew for it, so that lines stay
// thin, ticks round and curves as fine as there is room for.
#pragma once

#include <algorithm>
#include <optional>

namespace assay::report {

/// From one value of an axis to another.
struct Range {
    double low = 0, high = 0;
    double span() const { return high - low; }
    bool contains(double value) const { return low <= value && value <= high; }
    bool operator==(const Range&) const = default;
};

/// Nothing: the whole axis. In the figure's values: of categories and sessions their places, from
/// 0; of timelines seconds, and y is not used.
struct ViewWindow {
    std::optional<Range> x, y;
    bool whole() const { return !x && !y; }
    bool operator==(const ViewWindow&) const = default;
};

}  // namespace assay::report
