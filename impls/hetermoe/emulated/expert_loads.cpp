#include "impls/hetermoe/emulated/expert_loads.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "impls/hetermoe/policy/expert_map.hpp"

namespace assay::hetermoe {
namespace {

// Shares above `most` are cut, and what is cut off is given to the others in proportion.
void limit(std::vector<double>& shares, double most) {
    for (;;) {
        double over = 0, below = 0;
        for (const double share : shares) share >= most ? over += share - most : below += share;
        if (over < 1e-12 || below <= 0) return;
        for (double& share : shares) share = share >= most ? most : share * (1 + over / below);
    }
}

// Of one layer; loads come in any order.
std::vector<double> balanced(const PacedStep& step, std::size_t layer) {
    const auto gpus = homes(step.experts, step.layout.group, step.layout.offload[layer]);
    std::vector<double> loads = step.loads[layer], done, placed(loads.size());
    std::sort(loads.begin(), loads.end(), std::greater<>());
    for (int rank = 0; rank < step.size(); ++rank)
        done.push_back(step.layout.is_attention(rank)
                           ? step.ranks[static_cast<std::size_t>(rank)].attention
                           : 0);
    std::vector<bool> taken(loads.size(), false);
    for (const double load : loads) {
        std::size_t best = 0;
        double earliest = std::numeric_limits<double>::infinity();
        for (std::size_t slot = 0; slot < gpus.size(); ++slot) {
            const auto gpu = static_cast<std::size_t>(gpus[slot]);
            const double end =
                done[gpu] + load * step.layout.group.attention * step.ranks[gpu].expert;
            if (taken[slot] || end >= earliest) continue;
            earliest = end;
            best = slot;
        }
        taken[best] = true;
        placed[best] = load;
        done[static_cast<std::size_t>(gpus[best])] = earliest;
    }
    return placed;
}

}  // namespace

std::vector<std::vector<double>> zipf_loads(int layers, int experts, double skew, int top_k,
                                            std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<double>> loads;
    for (int layer = 0; layer < layers; ++layer) {
        std::vector<double> shares;
        for (int i = 1; i <= experts; ++i) shares.push_back(std::pow(i, -skew));
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        for (double& share : shares) share /= sum;
        limit(shares, 1.0 / top_k);
        for (std::size_t i = shares.size(); i > 1; --i)  // Fisher and Yates
            std::swap(shares[i - 1], shares[random() % i]);
        loads.push_back(std::move(shares));
    }
    return loads;
}

void choose_moved(PacedStep& step, MovedExperts which) {
    const auto each = step.experts / step.layout.group.expert;  // of an expert GPU
    for (std::size_t layer = 0; layer < step.loads.size(); ++layer) {
        std::vector<double>& loads = step.loads[layer];
        if (which == MovedExperts::balanced) loads = balanced(step, layer);
        for (auto first = loads.begin(); first != loads.end(); first += each) {
            if (which == MovedExperts::hottest) std::sort(first, first + each);
            if (which == MovedExperts::coldest) std::sort(first, first + each, std::greater<>());
        }
    }
}

}  // namespace assay::hetermoe
