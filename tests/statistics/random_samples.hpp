// Samples of known distributions, the same on every run.
#pragma once

#include <cmath>
#include <vector>

#include "suite/measure/statistics/counter_draws.hpp"
#include "suite/measure/statistics/distributions.hpp"

namespace assay::statistics {

enum class Kind { normal, lognormal, bimodal, uniform };

inline const char* name(Kind kind) {
    constexpr const char* kNames[] = {"normal", "lognormal", "bimodal", "uniform"};
    return kNames[static_cast<int>(kind)];
}

/// Times around 20: spread of 5 %, of 60 % to the right, two heaps ten spreads apart, even.
inline double draw(Kind kind, CounterDraws& draws) {
    const double z = normal_quantile(draws.uniform());
    switch (kind) {
        case Kind::normal:
            return 20 + z;
        case Kind::lognormal:
            return 20 * std::exp(0.5 * z);
        case Kind::bimodal:
            return (draws.uniform() < 0.5 ? 19 : 21) + 0.2 * z;
        case Kind::uniform:
            return 19 + 2 * draws.uniform();
    }
    return 0;
}
constexpr double kMedianOfEach = 20;

inline std::vector<double> sample(Kind kind, int n, CounterDraws& draws) {
    std::vector<double> values(n);
    for (double& value : values) value = draw(kind, draws);
    return values;
}

inline std::vector<double> scaled(std::vector<double> values, double factor) {
    for (double& value : values) value *= factor;
    return values;
}

}  // namespace assay::statistics
