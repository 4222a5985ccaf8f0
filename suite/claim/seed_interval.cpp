#include "suite/claim/seed_interval.hpp"

#include <algorithm>
#include <cmath>

#include "suite/claim/quantity.hpp"
#include "suite/measure/statistics/mean_interval.hpp"
#include "suite/measure/statistics/median_interval.hpp"

namespace assay {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Nothing where a seed is unknown.
std::optional<statistics::MeanInterval> known(const std::vector<double>& values, double level) {
    const auto finite = [](double value) { return std::isfinite(value); };
    if (!std::all_of(values.begin(), values.end(), finite)) return std::nullopt;
    return statistics::mean_interval(values, level);
}

double tolerance(const Claim& claim) {
    const double size = std::abs(*claim.value);
    return std::max(claim.absolute.value_or(0), claim.relative.value_or(0) * size) + rounding(size);
}

}  // namespace

Bounds bounds_of(const Claim& claim) {
    const std::string& test = claim.test.name;
    if (test == "greater") return {.low = claim.value.value_or(1), .strictly = true};
    Bounds bounds;
    if (test != "at_most") bounds.low = *claim.value - tolerance(claim);
    if (test != "at_least") bounds.high = *claim.value + tolerance(claim);
    return bounds;
}

SeedRange median_range(const std::vector<double>& values, bool logarithms) {
    SeedRange range{.seeds = values.size()};
    std::vector<double> scaled = values;
    if (logarithms)
        for (double& value : scaled) value = std::log(value);
    const auto give = [&](double low, double high) {
        range.low = logarithms ? std::exp(low) : low;
        range.high = logarithms ? std::exp(high) : high;
    };
    const auto of_mean = known(scaled, 0.95);  // asks whether all are finite, too
    if (!of_mean) return range;
    const statistics::Interval of_median = statistics::median_interval(scaled);
    if (of_median.method == statistics::IntervalMethod::none)
        give(of_mean->low, of_mean->high);
    else
        give(of_median.low, of_median.high);
    return range;
}

SeedInterval seed_interval(const SeedValues& values, const Bounds& bounds, std::size_t seeds_wanted,
                           std::size_t points) {
    SeedInterval found{.low = -infinite, .high = infinite, .seeds = values.low.size()};
    found.few = found.seeds < seeds_wanted;
    const auto low = known(values.low, 0.95), high = known(values.high, 0.95);
    if (low) found.low = low->low;
    if (high) found.high = high->high;
    // Of a single seed its value, without an interval.
    const auto& told = high ? values.high : values.low;
    if (!told.empty() && std::isfinite(mean(told))) found.mean = mean(told);
    found.slack = std::min(found.low - bounds.low, bounds.high - found.high);
    if (found.few) return found;
    const double level = 1 - 0.05 / static_cast<double>(std::max<std::size_t>(points, 1));
    const auto corrected_low = known(values.low, level), corrected_high = known(values.high, level);
    const bool above = bounds.strictly ? found.low > bounds.low : found.low >= bounds.low;
    const bool beneath = corrected_high && (bounds.strictly ? corrected_high->high <= bounds.low
                                                            : corrected_high->high < bounds.low);
    const bool beyond = corrected_low && corrected_low->low > bounds.high;
    if (beneath || beyond) {
        found.standing = Standing::fails;
        found.slack = beneath ? found.high - bounds.low : bounds.high - found.low;
    }
    if (found.standing == Standing::fails) return found;
    if (above && found.high <= bounds.high)
        found.standing = Standing::holds;
    else
        found.open = !low || !high;
    return found;
}

}  // namespace assay
