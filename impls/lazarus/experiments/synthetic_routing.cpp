#include "impls/lazarus/experiments/synthetic_routing.hpp"

#include <cmath>
#include <cstddef>
#include <random>

#include "impls/lazarus/experiments/seeded_shuffle.hpp"

namespace assay::lazarus {
namespace {

constexpr int experts = 32;
constexpr double tokens = 262144;  // 16 ranks · 4 micro-batches · 2048 tokens · 2 choices

double share_of_hottest(int count) { return count == 0 ? 0 : 1 - 0.6 * std::exp(-0.225 * count); }

}  // namespace

std::vector<Loads> synthetic_routing(std::uint64_t seed, std::int64_t step, int layers) {
    std::vector<Loads> loads;
    for (int layer = 0; layer < layers; ++layer) {
        std::mt19937_64 random = seeded_engine(seed, static_cast<std::uint64_t>(step),
                                               static_cast<std::uint64_t>(layer));
        std::vector<double> shares;
        double sum = 0;
        for (int rank = 0; rank < experts; ++rank) {
            const double expected = share_of_hottest(rank + 1) - share_of_hottest(rank);
            shares.push_back(expected * std::exp2(2 * uniform(random) - 1));
            sum += shares.back();
        }
        seeded_shuffle(shares, random);
        Loads layer_loads;
        for (double share : shares)
            layer_loads.push_back(1 + std::llround(share / sum * (tokens - experts)));
        loads.push_back(std::move(layer_loads));
    }
    return loads;
}

}  // namespace assay::lazarus
