#include "suite/report/figures/decimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace assay::report {
namespace {

/// The points of one pixel, by index.
struct Column {
    std::size_t pixel = 0, first = 0, lowest = 0, highest = 0, last = 0;
};

/// `begins`, `ends`: the curve comes from, goes on to, something else than the pixel beside this.
void paint(const Column& column, bool begins, bool ends, std::vector<std::size_t>& painted) {
    const auto [lowest, highest] = std::minmax(column.lowest, column.highest);
    std::array<std::size_t, 4> chosen{lowest, highest};
    std::size_t count = 2;
    if (begins) chosen[count++] = column.first;
    if (ends) chosen[count++] = column.last;
    std::sort(chosen.begin(), chosen.begin() + count);
    painted.insert(painted.end(), chosen.begin(),
                   std::unique(chosen.begin(), chosen.begin() + count));
}

}  // namespace

std::vector<std::size_t> points_to_paint(std::span<const double> times,
                                         std::span<const double> values, std::size_t width) {
    const auto finite = [&](std::size_t i) {
        return std::isfinite(times[i]) && std::isfinite(values[i]);
    };
    std::size_t count = 0;
    double begin = INFINITY, end = -INFINITY;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!finite(i)) continue;
        ++count;
        begin = std::min(begin, times[i]);
        end = std::max(end, times[i]);
    }
    const bool all = count <= width || width == 0;
    const double last_pixel = static_cast<double>(width) - 1;
    const double pixels_per_s = end > begin ? static_cast<double>(width) / (end - begin) : 0;

    std::vector<std::size_t> painted;
    std::optional<Column> column;
    bool begins = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!finite(i)) continue;
        if (all) {
            painted.push_back(i);
            continue;
        }
        const auto pixel =
            static_cast<std::size_t>(std::min(last_pixel, (times[i] - begin) * pixels_per_s));
        if (column && column->pixel != pixel) {
            const bool ends = pixel != column->pixel + 1;
            paint(*column, begins, ends, painted);
            begins = ends;
            column.reset();
        }
        if (!column) column = Column{pixel, i, i, i, i};
        column->last = i;
        if (values[i] < values[column->lowest]) column->lowest = i;
        if (values[i] > values[column->highest]) column->highest = i;
    }
    if (column) paint(*column, begins, true, painted);
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
