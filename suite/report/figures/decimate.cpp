#include "suite/report/figures/decimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::report {
namespace {

struct Column {
    std::size_t first = 0, lowest = 0, highest = 0, last = 0;
};

/// `begins`, `ends`: there is nothing in the pixel before, after it.
void paint(const Column& column, bool begins, bool ends, std::vector<std::size_t>& painted) {
    std::array<std::size_t, 4> chosen{column.lowest, column.highest,
                                      begins ? column.first : column.lowest,
                                      ends ? column.last : column.highest};
    std::sort(chosen.begin(), chosen.end());
    painted.insert(painted.end(), chosen.begin(), std::unique(chosen.begin(), chosen.end()));
}

}  // namespace

std::vector<std::size_t> points_to_paint(std::span<const double> times,
                                         std::span<const double> values, std::size_t width) {
    const auto is_there = [&](std::size_t i) {
        return std::isfinite(times[i]) && std::isfinite(values[i]);
    };
    std::vector<std::size_t> painted;
    for (std::size_t i = 0; i < values.size() && (painted.size() <= width || width == 0); ++i)
        if (is_there(i)) painted.push_back(i);
    if (painted.size() <= width || width == 0) return painted;

    std::size_t next = painted.front(), last = values.size() - 1;
    while (!is_there(last)) --last;
    painted.clear();
    const double begin = times[next];
    const double pixel_s = (times[last] - begin) / static_cast<double>(width);
    const std::size_t last_pixel = pixel_s > 0 ? width - 1 : 0;
    bool begins = true;
    for (std::size_t pixel = 0; next <= last;) {
        Column column{next, next, next, next};
        const double end = begin + static_cast<double>(pixel + 1) * pixel_s;
        for (++next; next <= last && (pixel == last_pixel || !(times[next] >= end)); ++next) {
            const bool is_lower = values[next] < values[column.lowest];
            if (!is_lower && !(values[next] > values[column.highest])) continue;
            if (is_there(next)) (is_lower ? column.lowest : column.highest) = next;
        }
        for (column.last = next - 1; !is_there(column.last);) --column.last;
        while (next <= last && !is_there(next)) ++next;
        // Each pixel lies right of the one before, whatever the times are: `width` at most.
        std::size_t after = pixel + 1;
        if (next <= last)
            after = static_cast<std::size_t>(std::max(
                static_cast<double>(after),
                std::min(static_cast<double>(last_pixel), (times[next] - begin) / pixel_s)));
        const bool ends = next > last || after > pixel + 1;
        paint(column, begins, ends, painted);
        begins = ends;
        pixel = after;
    }
    return painted;
}

std::vector<std::size_t> points_to_paint(std::span<const double> times,
                                         std::span<const double> values, std::size_t width,
                                         const Range& seen) {
    const auto first = std::lower_bound(times.begin(), times.end(), seen.low);
    const auto last = std::upper_bound(first, times.end(), seen.high);
    const auto from = static_cast<std::size_t>(first - times.begin());
    const auto to = static_cast<std::size_t>(last - times.begin());
    std::vector<std::size_t> painted =
        points_to_paint(times.subspan(from, to - from), values.subspan(from, to - from), width);
    for (std::size_t& i : painted) i += from;
    const auto is_there = [&](std::size_t i) {
        return std::isfinite(times[i]) && std::isfinite(values[i]);
    };
    if (from > 0 && is_there(from - 1)) painted.insert(painted.begin(), from - 1);
    if (to < times.size() && is_there(to)) painted.push_back(to);
    return painted;
}

}  // namespace assay::report
