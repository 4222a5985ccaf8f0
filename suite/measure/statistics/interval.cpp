#include "suite/measure/statistics/interval.hpp"

#include <stdexcept>

#include "suite/measure/statistics/attainable_level.hpp"

namespace assay::statistics {

std::string_view to_string(IntervalMethod method) {
    switch (method) {
        case IntervalMethod::none:
            return "none";
        case IntervalMethod::bca:
            return "bca";
        case IntervalMethod::order_statistics:
            return "order_statistics";
        case IntervalMethod::rank_sum:
            return "rank_sum";
    }
    throw std::invalid_argument("no such method of making an interval");
}

std::optional<double> attainable_level(double level, double widest_coverage) {
    if (!(level > 0 && level < 1))
        throw std::invalid_argument("a confidence level lies between 0 and 1");
    if (widest_coverage >= level) return level;
    constexpr double kToleratedExcess = 1.4;
    if (1 - widest_coverage <= kToleratedExcess * (1 - level)) return widest_coverage;
    return std::nullopt;
}

}  // namespace assay::statistics
