// Quantiles of the dip of uniform samples.
#pragma once

#include <array>
#include <span>

namespace assay::statistics {

inline constexpr std::array kDipShares = {0.0,  0.01, 0.05, 0.1,   0.25,  0.5,   0.75,   0.9,
                                          0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999};

struct DipQuantiles {
    int n;                                             ///< values per sample
    std::array<double, kDipShares.size()> root_n_dip;  ///< sqrt(n) times the dip at each share
};

/// Simulated: dip() of 200,000 samples of each size up to 500, 100,000 of 1000, 50,000 of 2000,
/// 20,000 of 5000 (tests/statistics/dip_test.cpp repeats a part of it). Ascending in n.
std::span<const DipQuantiles> dip_table();

}  // namespace assay::statistics
