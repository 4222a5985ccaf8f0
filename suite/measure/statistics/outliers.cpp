#include "suite/measure/statistics/quantile.hpp"
#include "suite/measure/statistics/shape.hpp"

namespace assay::statistics {

std::vector<Outlier> outliers(std::span<const double> values) {
    std::vector<Outlier> marks(values.size(), Outlier::none);
    constexpr std::size_t kFewest = 5;
    if (values.size() < kFewest) return marks;
    const Quartiles q = quartiles(values);
    const auto beyond = [&](double v, double ranges) {
        return v < q.first - ranges * q.range() || v > q.third + ranges * q.range();
    };
    for (std::size_t i = 0; i < values.size(); ++i)
        marks[i] = beyond(values[i], 3.0)   ? Outlier::severe
                   : beyond(values[i], 1.5) ? Outlier::mild
                                            : Outlier::none;
    return marks;
}

}  // namespace assay::statistics
