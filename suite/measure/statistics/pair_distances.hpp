// Sums of absolute differences between the values of a stretch, and the split of a stretch where
// they show two distributions most clearly: the divergence of Matteson and James (arXiv 1306.4933),
// with exponent 1.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::statistics {

class PairDistances {
  public:
    explicit PairDistances(std::span<const double> values);

    struct Split {
        std::size_t at = 0;     ///< first value of the right part
        double divergence = 0;  ///< scaled, as the paper's q
    };
    /// The best split of [begin, end), at least two values: the first of those with the largest
    /// divergence over all ends of the right part up to `end`.
    Split best_split(std::size_t begin, std::size_t end) const;

  private:
    /// Sum over all pairs in [begin, end).
    double within(std::size_t begin, std::size_t end) const {
        return within_[begin * (count_ + 1) + end];
    }

    std::size_t count_;
    std::vector<double> within_;
};

}  // namespace assay::statistics
