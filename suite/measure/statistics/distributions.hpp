// The few distribution functions that the intervals and tests need, so that one file alone includes
// Boost.Math for them.
#pragma once

namespace assay::statistics {

/// Standard normal: P(Z <= z), and its inverse for p in (0, 1).
double normal_cdf(double z);
double normal_quantile(double p);
/// P(X <= k) for X heads in n throws of a fair coin; 0 for k < 0.
double fair_binomial_cdf(long long k, long long n);

}  // namespace assay::statistics
