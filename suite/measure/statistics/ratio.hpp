// How many times larger B is than A: the quantity that every comparison reports.
#pragma once

#include <cstddef>
#include <span>

#include "suite/measure/statistics/median_interval.hpp"

namespace assay::statistics {

struct Ratio {
    double ratio = 0;  ///< B over A
    Interval interval;
    int n_a = 0, n_b = 0;
    bool paired = false;
};

/// Median of b[i] / a[i] with median_interval() of these ratios. std::invalid_argument: unequal
/// lengths, no values, values that are not finite or not positive.
Ratio paired_ratio(std::span<const double> a, std::span<const double> b, double level = 0.95);

/// exp of the Hodges-Lehmann shift of the logarithms, with the interval that inverts the
/// Mann-Whitney test: exact for small samples, no assumption but that B is A scaled. It stays
/// beside the median of pairs because every verdict without pairs rests on it: sessions of
/// different days and files of Google Benchmark. Fewer values than any interval at this level
/// needs: method none. std::invalid_argument as above.
Ratio unpaired_ratio(std::span<const double> a, std::span<const double> b, double level = 0.95);
/// Whether so many values are enough for its interval.
bool has_unpaired_interval(std::size_t n_a, std::size_t n_b, double level = 0.95);

}  // namespace assay::statistics
