#pragma once

#include <algorithm>
#include <vector>

namespace assay::lte {

/// The mean of the two middle values where their number is even. At least one value.
inline double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t upper = values.size() / 2;
    const std::size_t lower = (values.size() - 1) / 2;
    return (values[lower] + values[upper]) / 2;
}

}  // namespace assay::lte
