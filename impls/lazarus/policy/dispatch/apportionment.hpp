// The one rounding rule of the dispatcher: a whole amount in proportion to weights, by largest
// remainder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Splits `amount` in proportion to weights by largest remainder, ties to the lower index. The part
/// of an entry never exceeds its weight where amount <= sum of weights; of weight 0 it is 0, so
/// that leaving such entries out changes nothing. O(entries).
class Apportionment {
  public:
    /// parts[i]: of weights[i]. `weight_sum`: of all of them, above 0.
    template <class Weights>
    void split(Tokens amount, const Weights& weights, Tokens weight_sum, std::span<Tokens> parts) {
        remainders_.resize(parts.size());
        Tokens left = amount;
        for (std::size_t j = 0; j < parts.size(); ++j) {
            const auto weight = static_cast<Tokens>(weights[j]);
            const Share share = weight == 0 ? Share{0, 0} : share_of(amount, weight, weight_sum);
            parts[j] = share.floor;
            remainders_[j] = share.remainder;
            left -= share.floor;
        }
        if (left == 0) return;
        // `left` is below the number of non-zero remainders, so no part grows beyond its ceiling.
        order_.resize(parts.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::nth_element(
            order_.begin(), order_.begin() + (left - 1), order_.end(),
            [&](std::size_t a, std::size_t b) {
                return remainders_[a] != remainders_[b] ? remainders_[a] > remainders_[b] : a < b;
            });
        for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) ++parts[order_[i]];
    }

  private:
    struct Share {
        Tokens floor;
        Tokens remainder;
    };

    // a·b/c; the 64-bit path is the one of every training step.
    static Share share_of(Tokens a, Tokens b, Tokens c) {
        __extension__ using Wide = unsigned __int128;
        constexpr Tokens narrow = Tokens{1} << 31;
        if (a < narrow && b < narrow) return {a * b / c, a * b % c};
        const Wide product = static_cast<Wide>(a) * static_cast<Wide>(b);
        return {static_cast<Tokens>(product / static_cast<Wide>(c)),
                static_cast<Tokens>(product % static_cast<Wide>(c))};
    }

    std::vector<Tokens> remainders_;
    std::vector<std::size_t> order_;
};

}  // namespace assay::lazarus
