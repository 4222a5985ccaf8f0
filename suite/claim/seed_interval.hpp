// What an interval over seeds says of a quantity that has to lie between bounds.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "suite/claim/claim.hpp"

namespace assay {

/// Of one point of a claim, of a choice of assumptions, or of the claim. The smallest decides.
enum class Standing { fails, undecided, holds };

/// Where a claim's quantity has to lie. `strictly`: above `low`, not on it.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool strictly = false;
};

/// Of near, at_least, at_most and greater: a tolerance is a margin. greater without a value:
/// above 1.
Bounds bounds_of(const Claim&);

/// Each seed's value, or what it lies between where it is not known; infinite on a side of which
/// nothing is known.
struct SeedValues {
    std::vector<double> low, high;
    void add(double value) {
        low.push_back(value);
        high.push_back(value);
    }
};

struct SeedInterval {
    Standing standing = Standing::undecided;
    double low = 0, mean = 0, high = 0;  ///< 95 %; low and high may be infinite
    double slack = 0;                    ///< from the interval to the bound; negative beyond it
    std::size_t seeds = 0;
    bool few = false;   ///< fewer seeds than the claim wants
    bool open = false;  ///< one end is unknown, and the other decides nothing
};

/// Of the values' median by order statistics; of fewer seeds than these take (five), Student's
/// interval of the mean, which holds the median of so few too. `logarithms`: of positive values, by
/// their logarithms. No interval of a single one, and of values that are not finite.
SeedRange median_range(const std::vector<double>& values, bool logarithms);

/// holds: the 95 % interval of the mean lies within the bounds. fails: it lies wholly outside of
/// one, at the level that Holm's correction asks for among `points` of one claim (1 − 0.05/points:
/// one point that contradicts is enough, so that his first step decides). Student's t.
SeedInterval seed_interval(const SeedValues&, const Bounds&, std::size_t seeds_wanted,
                           std::size_t points);

}  // namespace assay
