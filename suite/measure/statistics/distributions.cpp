#include "suite/measure/statistics/distributions.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace assay::statistics {

double normal_cdf(double z) { return 0.5 * boost::math::erfc(-z / std::sqrt(2.0)); }

double normal_quantile(double p) { return -std::sqrt(2.0) * boost::math::erfc_inv(2 * p); }

double fair_binomial_cdf(long long k, long long n) {
    if (k < 0) return 0;
    if (k >= n) return 1;
    return boost::math::ibetac(static_cast<double>(k + 1), static_cast<double>(n - k), 0.5);
}

}  // namespace assay::statistics
