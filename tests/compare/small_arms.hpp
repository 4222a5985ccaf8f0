// Arms of a few series, for tests of comparisons.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "suite/compare/compare.hpp"

namespace assay::compare::testing {

/// Metric "time" in seconds of "toy/fig1 plain", lower is better, without pairs.
inline Series series(std::vector<double> values) {
    Series made;
    made.name = {"toy/fig1", "plain", {}, "time"};
    made.unit = "s";
    made.better = Direction::lower;
    made.context = {{"hardware", "here"}, {"profile", "toy"}};
    for (const double value : values) made.points.push_back({value, "", ""});
    return made;
}

/// The same with pairs: the value at index i has seed i.
inline Series seeded(std::vector<double> values) {
    Series made = series(std::move(values));
    for (std::size_t i = 0; i < made.points.size(); ++i)
        made.points[i].pair = "seed " + std::to_string(i);
    return made;
}

/// The values of several sessions, each a vector; without pairs.
inline Series of_sessions(const std::vector<std::vector<double>>& sessions) {
    Series made = series({});
    for (std::size_t i = 0; i < sessions.size(); ++i)
        for (const double value : sessions[i])
            made.points.push_back({value, "", "", static_cast<int>(i) + 1});
    return made;
}

inline Series deterministic(std::vector<double> values) {
    Series made = seeded(std::move(values));
    made.deterministic = true;
    return made;
}

inline Arm arm(std::vector<Series> all) { return {"made up", std::move(all), {}}; }

/// The row is plain data; its pointers into the arms are not to be used.
inline Row only_row(Series a, Series b, const Options& options = {}) {
    const Arm left = arm({std::move(a)}), right = arm({std::move(b)});
    const auto rows = compare(left, right, options);
    return rows.size() == 1 ? rows.front() : throw std::logic_error("not one row");
}

/// n values around `center` that differ by up to `spread` (relative), the same at every call.
inline std::vector<double> around(double center, double spread, int n, int shift = 0) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i)
        values.push_back(center * (1 + spread * (((i + shift) * 7 % 11) / 5.0 - 1)));
    return values;
}

/// Two sides whose ratios are spread evenly from 0.97 to 1.05.
inline std::pair<std::vector<double>, std::vector<double>> straddling(int n) {
    const std::vector<double> a = around(1, 0.02, n);
    std::vector<double> b;
    for (int i = 0; i < n; ++i)
        b.push_back(a[static_cast<std::size_t>(i)] * (0.97 + 0.08 * ((i * 4) % n) / (n - 1)));
    return {a, b};
}

}  // namespace assay::compare::testing
