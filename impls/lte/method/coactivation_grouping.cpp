// Grouping of neurons that are active on the same tokens (LTE's Fig. 9, an alternative there).
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "impls/lte/method/grouping.hpp"
#include "impls/nn/hashes.hpp"

namespace assay::lte {
at::Tensor coactivation_counts(const at::Tensor& hidden, double share) {
    const auto neurons = hidden.size(1);
    const auto most =
        std::clamp<std::int64_t>(std::llround(share * static_cast<double>(neurons)), 1, neurons);
    const auto magnitude = hidden.detach().to(at::kFloat).abs();
    const auto strongest = std::get<1>(magnitude.topk(most, 1));
    const auto active = at::zeros(magnitude.sizes(), magnitude.options()).scatter_(1, strongest, 1);
    auto counts = at::matmul(active.t(), active).to(at::kCPU).contiguous();
    counts.fill_diagonal_(0);
    return counts;
}

namespace {

// One group after another: the free neuron with the largest sum of weights, then again and again
// the free neuron with the largest weight to the group. Ties go to the smaller hash.
Membership grow(const at::Tensor& counts, int expert_size, std::uint64_t seed) {
    const auto n = static_cast<std::size_t>(counts.size(0));
    const float* weight = counts.const_data_ptr<float>();
    const auto degrees = counts.sum(1).contiguous();
    const float* degree = degrees.const_data_ptr<float>();
    std::vector<std::uint64_t> tie(n);
    for (std::size_t i = 0; i < n; ++i) tie[i] = nn::counter_hash(nn::counter_hash(seed) + i);

    Membership group(n, -1);
    const auto best_free = [&](const auto& value) {
        std::size_t best = n;
        for (std::size_t i = 0; i < n; ++i) {
            if (group[i] >= 0) continue;
            if (best == n || value(i) > value(best) ||
                (value(i) == value(best) && tie[i] < tie[best]))
                best = i;
        }
        return best;
    };
    for (std::int64_t g = 0; g < static_cast<std::int64_t>(n) / expert_size; ++g) {
        std::vector<float> to_group(n, 0);
        for (int member = 0; member < expert_size; ++member) {
            const auto next = member == 0 ? best_free([&](std::size_t i) { return degree[i]; })
                                          : best_free([&](std::size_t i) { return to_group[i]; });
            group[next] = g;
            for (std::size_t i = 0; i < n; ++i) to_group[i] += weight[next * n + i];
        }
    }
    return group;
}

}  // namespace

Grouping coactivation_grouping(const at::Tensor& counts, int expert_size, std::uint64_t seed) {
    constexpr int most_passes = 100;
    check_expert_size(counts.size(1), expert_size);
    auto group = grow(counts, expert_size, seed);
    refine_by_swaps(counts, group, static_cast<int>(counts.size(1) / expert_size), most_passes);
    return grouping_of(group, expert_size);
}

}  // namespace assay::lte
