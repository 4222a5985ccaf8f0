// The few distributions that the intervals need: normal, fair coin, rank sums. One file alone
// includes Boost.Math for them.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::statistics {

/// Standard normal: P(Z <= z), and its inverse for p in (0, 1).
double normal_cdf(double z);
double normal_quantile(double p);
/// P(X <= k) for X heads in n throws of a fair coin; 0 for k < 0.
double fair_binomial_cdf(long long k, long long n);

/// The distribution of the Mann-Whitney U (pairs in which the value of A is the larger one) when
/// both samples come from one continuous distribution. Exact where the number of arrangements fits
/// a 64-bit word and at most 100,000 pairs compare (33 against 33 values, or 8 against 900):
/// counting stays cheap there. Else normal with continuity correction.
class RankSumDistribution {
  public:
    RankSumDistribution(std::uint64_t n_a, std::uint64_t n_b);

    bool exact() const { return !up_to_.empty(); }
    /// P(U <= u) for a whole number u.
    double cdf(std::int64_t u) const;
    /// The largest u with P(U <= u) <= p, p < 1/2; -1 when already P(U = 0) is more.
    std::int64_t largest_at_most(double p) const;
    /// 1 - 2 P(U = 0): what the range of all pairs covers. Of any sample sizes.
    double widest_coverage() const;

  private:
    std::uint64_t n_a_, n_b_;
    double pairs_, deviation_;
    std::vector<std::uint64_t> up_to_;  ///< arrangements with at most that U
};

}  // namespace assay::statistics
