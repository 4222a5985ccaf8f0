// Partitions into groups of equal size, improved by exchanging pairs of items.
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <utility>

#include "impls/lte/method/grouping.hpp"

namespace assay::lte {
namespace {

class SwapSearch {
  public:
    SwapSearch(const at::Tensor& affinity, Membership& group, int groups)
        : affinity_(affinity.const_data_ptr<float>()),
          n_(affinity.size(0)),
          group_(group),
          inside_(group.size()),
          to_group_(static_cast<std::size_t>(groups)) {
        tolerance_ = 1e-5F * affinity.abs().max().item<float>();
        // Fresh sums for every pass: updates in float would drift.
        sums_ = group_sums(affinity, group, groups);
        for (std::int64_t i = 0; i < n_; ++i) refresh(i);
    }

    std::int64_t pass() {
        std::int64_t swaps = 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            const auto [partner, gain] = best_partner(i);
            if (gain > tolerance_) {
                swap(i, partner);
                ++swaps;
            }
        }
        return swaps;
    }

  private:
    const float* row(std::int64_t i) const { return affinity_ + i * n_; }
    float* sum(std::int64_t group) { return sums_.mutable_data_ptr<float>() + group * n_; }
    std::int64_t group(std::int64_t i) const { return group_[static_cast<std::size_t>(i)]; }

    // Affinity of an item to the others of its group.
    void refresh(std::int64_t i) {
        inside_[static_cast<std::size_t>(i)] = sum(group(i))[i] - row(i)[i];
    }

    // For i of group a and j of group b the exchange gains
    // (s(i, b) − w(i, j)) + (s(j, a) − w(i, j)) − s(i, a) − s(j, b).
    std::pair<std::int64_t, float> best_partner(std::int64_t i) {
        for (std::size_t c = 0; c < to_group_.size(); ++c)
            to_group_[c] = sum(static_cast<std::int64_t>(c))[i];
        to_group_[static_cast<std::size_t>(group(i))] = -std::numeric_limits<float>::infinity();
        const float* weight = row(i);
        const float* to_mine = sum(group(i));
        float best = -std::numeric_limits<float>::infinity();
        std::int64_t partner = i;
        for (std::int64_t j = 0; j < n_; ++j) {
            const float gain = to_group_[static_cast<std::size_t>(group(j))] + to_mine[j] -
                               inside_[static_cast<std::size_t>(j)] - 2 * weight[j];
            if (gain > best) {
                best = gain;
                partner = j;
            }
        }
        return {partner, best - inside_[static_cast<std::size_t>(i)]};
    }

    void swap(std::int64_t i, std::int64_t j) {
        const auto a = group(i), b = group(j);
        float *sum_a = sum(a), *sum_b = sum(b);
        const float *row_i = row(i), *row_j = row(j);
        for (std::int64_t k = 0; k < n_; ++k) {
            const float change = row_j[k] - row_i[k];
            sum_a[k] += change;
            sum_b[k] -= change;
        }
        std::swap(group_[static_cast<std::size_t>(i)], group_[static_cast<std::size_t>(j)]);
        for (std::int64_t k = 0; k < n_; ++k)
            if (group(k) == a || group(k) == b) refresh(k);
    }

    const float* affinity_;
    std::int64_t n_;
    Membership& group_;
    std::vector<float> inside_;    // [n]
    std::vector<float> to_group_;  // [groups], of the item at hand
    at::Tensor sums_;
    float tolerance_ = 0;  // rounding must not be taken for a gain, or the search would not end
};

}  // namespace

at::Tensor group_sums(const at::Tensor& rows, const Membership& group, int groups) {
    auto sums = at::zeros({groups, rows.size(1)}, rows.options());
    return sums.index_add_(0, at::tensor(group, at::kLong), rows);
}

std::int64_t refine_by_swaps(const at::Tensor& affinity, Membership& group, int groups,
                             int most_passes) {
    std::int64_t swaps = 0;
    for (int pass = 0; pass < most_passes; ++pass) {
        const auto found = SwapSearch(affinity, group, groups).pass();
        if (found == 0) break;
        swaps += found;
    }
    return swaps;
}

}  // namespace assay::lte
