// Balanced k-means over the rows of the first matrix: the paper's grouping.
#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "impls/lte/method/grouping.hpp"
#include "impls/nn/hashes.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

// k-means on the Gram matrix of the rows: with equal sizes m, the squared distance of row i to the
// mean of group c is gram[i, i] − 2·s(c, i)/m + s(c)/m², where s(c, i) sums gram[k, i] over the
// members k of c and s(c) sums s(c, i) over them. Memory: 4·f² bytes.
class BalancedKMeans {
  public:
    BalancedKMeans(const at::Tensor& features, int expert_size, const KMeansOptions& options)
        : options_(options), size_(expert_size) {
        auto rows = features.detach().to(at::kFloat);
        if (options.normalise) rows = rows / rows.norm(2, 1, true).clamp_min(1e-12);
        gram_ = at::matmul(rows, rows.t()).to(at::kCPU).contiguous();
        // Distances are sorted: one that is no number would leave no order at all.
        if (!at::isfinite(gram_).all().item<bool>())
            throw UserError("the neurons cannot be grouped: their weights are not all finite");
        n_ = gram_.size(0);
        groups_ = static_cast<int>(n_ / expert_size);
        norm_ = gram_.diagonal().contiguous();
    }

    Membership run() {
        auto best = assign(distances_to(first_centres()));
        auto least = objective(best);
        for (int iteration = 1; iteration < options_.iterations; ++iteration) {
            auto next = assign(distances_to_means(best));
            const auto sum = objective(next);
            // A greedy assignment may make things worse: then swaps take over.
            if (sum >= least) break;
            least = sum;
            best = std::move(next);
        }
        refine_by_swaps(gram_, best, groups_, most_passes);
        return best;
    }

  private:
    static constexpr int most_passes = 100;

    // k-means++: each next centre is a row drawn in proportion to its squared distance to the
    // nearest centre so far.
    std::vector<std::int64_t> first_centres() const {
        const float* gram = gram_.const_data_ptr<float>();
        const auto distance = [&](std::int64_t i, std::int64_t c) {
            return std::max(0.0F, gram[i * n_ + i] + gram[c * n_ + c] - 2 * gram[c * n_ + i]);
        };
        std::uint64_t draw = nn::counter_hash(options_.seed);
        std::vector<std::int64_t> centres{
            static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(n_))};
        std::vector<double> nearest(static_cast<std::size_t>(n_),
                                    std::numeric_limits<double>::infinity());
        while (static_cast<int>(centres.size()) < groups_) {
            double total = 0;
            for (std::int64_t i = 0; i < n_; ++i) {
                auto& d = nearest[static_cast<std::size_t>(i)];
                d = std::min<double>(d, distance(i, centres.back()));
                total += d;
            }
            draw = nn::counter_hash(draw);
            double left = total * (static_cast<double>(draw >> 11) * 0x1p-53);
            std::int64_t chosen = 0;
            while (chosen + 1 < n_ && left >= nearest[static_cast<std::size_t>(chosen)])
                left -= nearest[static_cast<std::size_t>(chosen++)];
            centres.push_back(chosen);
        }
        return centres;
    }

    // Squared, [groups, n].
    at::Tensor distances_to(const std::vector<std::int64_t>& centres) const {
        const auto index = at::tensor(centres, at::kLong);
        return norm_.unsqueeze(0) - 2 * gram_.index_select(0, index) +
               norm_.index_select(0, index).unsqueeze(1);
    }

    at::Tensor distances_to_means(const Membership& group) const {
        const auto sums = group_sums(gram_, group, groups_);
        const auto squares = group_sums(sums.t().contiguous(), group, groups_).diagonal();
        return norm_.unsqueeze(0) - 2.0 / size_ * sums +
               squares.unsqueeze(1) / (static_cast<double>(size_) * size_);
    }

    // The nearest pair of an item and a group with room first, until every item has its group.
    Membership assign(const at::Tensor& distances) const {
        struct Pair {
            float distance;
            std::int32_t group, item;
        };
        const auto table = distances.contiguous();
        const float* d = table.const_data_ptr<float>();
        std::vector<Pair> pairs;
        pairs.reserve(static_cast<std::size_t>(table.numel()));
        for (std::int32_t c = 0; c < groups_; ++c)
            for (std::int32_t i = 0; i < n_; ++i) pairs.push_back({*d++, c, i});
        std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
            return std::tie(a.distance, a.item, a.group) < std::tie(b.distance, b.item, b.group);
        });
        Membership group(static_cast<std::size_t>(n_), -1);
        std::vector<int> room(static_cast<std::size_t>(groups_), size_);
        for (const auto& pair : pairs) {
            auto& mine = group[static_cast<std::size_t>(pair.item)];
            auto& left = room[static_cast<std::size_t>(pair.group)];
            if (mine >= 0 || left == 0) continue;
            mine = pair.group;
            --left;
        }
        return group;
    }

    // Sum of squared distances to the group's mean.
    double objective(const Membership& group) const {
        const auto sums = group_sums(gram_, group, groups_);
        const auto inside =
            sums.gather(0, at::tensor(group, at::kLong).unsqueeze(0)).sum(at::kDouble);
        return norm_.sum(at::kDouble).item<double>() - inside.item<double>() / size_;
    }

    KMeansOptions options_;
    int size_, groups_ = 0;
    std::int64_t n_ = 0;
    at::Tensor gram_, norm_;
};

}  // namespace

Grouping balanced_kmeans(const at::Tensor& features, int expert_size,
                         const KMeansOptions& options) {
    check_expert_size(features.size(0), expert_size);
    return grouping_of(BalancedKMeans(features, expert_size, options).run(), expert_size);
}

}  // namespace assay::lte
