#include "suite/measure/statistics/mean_interval.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace assay::statistics {

std::optional<MeanInterval> mean_interval(std::span<const double> values, double level) {
    if (!(level > 0 && level < 1))
        throw std::invalid_argument("a confidence level lies between 0 and 1");
    for (const double value : values)
        if (!std::isfinite(value))
            throw std::invalid_argument("an interval needs values that are finite");
    if (values.size() < 2) return std::nullopt;
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    const boost::math::students_t distribution(n - 1);
    const double reach =
        boost::math::quantile(distribution, 0.5 + level / 2) * std::sqrt(squares / (n - 1) / n);
    return MeanInterval{mean, mean - reach, mean + reach};
}

}  // namespace assay::statistics
