#include "suite/measure/statistics/bootstrap_medians.hpp"

#include <algorithm>
#include <stdexcept>

#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::statistics {

std::vector<double> bootstrap_medians(std::span<const double> ascending, int resamples,
                                      std::uint64_t seed) {
    if (ascending.empty()) throw std::invalid_argument("a resample of no values");
    if (resamples < 1) throw std::invalid_argument("a bootstrap of no resamples");
    const auto n = static_cast<std::uint32_t>(ascending.size());
    const auto middle = [&](std::uint32_t low, std::uint32_t high) {
        return ascending[low] + 0.5 * (ascending[high] - ascending[low]);
    };
    CounterDraws draws(seed);
    std::vector<std::uint32_t> ranks(n);
    const auto upper_middle = ranks.begin() + n / 2;
    std::vector<double> medians;
    for (int pair = 0; pair < (resamples + 1) / 2; ++pair) {
        for (auto& rank : ranks) rank = draws.index(n);
        std::nth_element(ranks.begin(), upper_middle, ranks.end());
        const std::uint32_t high = *upper_middle;
        const std::uint32_t low = n % 2 ? high : *std::max_element(ranks.begin(), upper_middle);
        medians.push_back(middle(low, high));
        medians.push_back(middle(n - 1 - high, n - 1 - low));
    }
    std::sort(medians.begin(), medians.end());
    return medians;
}

}  // namespace assay::statistics
