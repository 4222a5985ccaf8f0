#include "suite/report/figures/decimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::report {

std::vector<std::size_t> points_to_paint(std::span<const double> times,
                                         std::span<const double> values, std::size_t width) {
    std::vector<std::size_t> finite;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (std::isfinite(values[i]) && std::isfinite(times[i])) finite.push_back(i);
    if (finite.size() <= width || width == 0) return finite;
    const auto [first, last] = std::minmax_element(
        finite.begin(), finite.end(), [&](auto a, auto b) { return times[a] < times[b]; });
    const double begin = times[*first], span = times[*last] - begin;
    const auto pixel = [&](std::size_t i) {
        if (span <= 0) return std::size_t{0};
        const double share = (times[i] - begin) / span;
        return std::min(static_cast<std::size_t>(share * static_cast<double>(width)), width - 1);
    };
    std::vector<std::size_t> painted;
    for (std::size_t at = 0; at < finite.size();) {
        std::size_t end = at + 1, low = at, high = at;
        for (; end < finite.size() && pixel(finite[end]) == pixel(finite[at]); ++end) {
            if (values[finite[end]] < values[finite[low]]) low = end;
            if (values[finite[end]] > values[finite[high]]) high = end;
        }
        std::array<std::size_t, 4> chosen{at, low, high, end - 1};
        std::sort(chosen.begin(), chosen.end());
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (i == 0 || chosen[i] != chosen[i - 1]) painted.push_back(finite[chosen[i]]);
        at = end;
    }
    return painted;
}

std::vector<std::size_t> points_to_paint(std::span<const double> times,
                                         std::span<const double> values, std::size_t width,
                                         const Range& seen) {
    auto first = std::lower_bound(times.begin(), times.end(), seen.low);
    auto last = std::upper_bound(first, times.end(), seen.high);
    if (first != times.begin()) --first;
    if (last != times.end()) ++last;
    const auto from = static_cast<std::size_t>(first - times.begin());
    const auto count = static_cast<std::size_t>(last - first);
    std::vector<std::size_t> painted =
        points_to_paint(times.subspan(from, count), values.subspan(from, count), width);
    for (std::size_t& i : painted) i += from;
    return painted;
}

}  // namespace assay::report
