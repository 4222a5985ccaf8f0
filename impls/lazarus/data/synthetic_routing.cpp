#include "impls/lazarus/data/synthetic_routing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>

#include "impls/lazarus/data/seeded_shuffle.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

constexpr int experts = 32;
constexpr double tokens = 262144;  // 16 ranks · 4 micro-batches · 2048 tokens · 2 choices

double share_of_hottest(int count) { return count == 0 ? 0 : 1 - 0.6 * std::exp(-0.225 * count); }

double expected_share(int rank) { return share_of_hottest(rank + 1) - share_of_hottest(rank); }

Loads loads_of(const std::vector<double>& shares, double sum) {
    Loads loads;
    for (double share : shares) loads.push_back(1 + std::llround(share / sum * (tokens - experts)));
    return loads;
}

constexpr std::int64_t steps_between_knots = 1000, last_step = 1'000'000'000;

// One layer's shares at step 0, 1000, 2000, …. Swaps and deviations are sized so that drift is
// about that of the SmartMoE trace (synthetic_routing.hpp gives its numbers).
class Drift {
  public:
    Drift(std::uint64_t seed, int layer)
        : random_(
              seeded_engine(seed, 0x6472696674 /* "drift" */, static_cast<std::uint64_t>(layer))) {
        for (std::size_t e = 0; e < experts; ++e) {
            hottest_first_.push_back(e);
            deviation_.push_back(2 * uniform(random_) - 1);
        }
        seeded_shuffle(hottest_first_, random_);
    }

    void advance() {
        for (std::size_t rank = 0; rank + 1 < experts; ++rank)
            if (uniform(random_) < 0.125) std::swap(hottest_first_[rank], hottest_first_[rank + 1]);
        for (double& deviation : deviation_)
            deviation = std::clamp(deviation + 0.25 * (2 * uniform(random_) - 1), -1.0, 1.0);
    }

    std::vector<double> shares() const {
        std::vector<double> shares(experts);
        for (std::size_t rank = 0; rank < experts; ++rank) {
            const std::size_t e = hottest_first_[rank];
            shares[e] = expected_share(static_cast<int>(rank)) * std::exp2(deviation_[e]);
        }
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        for (double& share : shares) share /= sum;
        return shares;
    }

  private:
    std::mt19937_64 random_;
    std::vector<std::size_t> hottest_first_;
    std::vector<double> deviation_;  // of each expert: its share is multiplied by 2 to this power
};

}  // namespace

std::vector<Loads> synthetic_routing(std::uint64_t seed, std::int64_t step, int layers) {
    std::vector<Loads> loads;
    for (int layer = 0; layer < layers; ++layer) {
        std::mt19937_64 random = seeded_engine(seed, static_cast<std::uint64_t>(step),
                                               static_cast<std::uint64_t>(layer));
        std::vector<double> shares;
        for (int rank = 0; rank < experts; ++rank)
            shares.push_back(expected_share(rank) * std::exp2(2 * uniform(random) - 1));
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        seeded_shuffle(shares, random);
        loads.push_back(loads_of(shares, sum));
    }
    return loads;
}

std::vector<Loads> drifting_routing(std::uint64_t seed, std::int64_t step, int layers) {
    if (step < 0 || step > last_step)
        throw UserError(
            fmt::format("synthetic routing is drawn for steps 0 to {}, not {}", last_step, step));
    const double part =
        static_cast<double>(step % steps_between_knots) / static_cast<double>(steps_between_knots);
    std::vector<Loads> loads;
    for (int layer = 0; layer < layers; ++layer) {
        Drift drift(seed, layer);
        for (std::int64_t knot = 0; knot < step / steps_between_knots; ++knot) drift.advance();
        const std::vector<double> from = drift.shares();
        drift.advance();
        const std::vector<double> to = drift.shares();
        std::vector<double> shares;
        for (std::size_t e = 0; e < from.size(); ++e)
            shares.push_back((1 - part) * from[e] + part * to[e]);
        loads.push_back(loads_of(shares, 1));
    }
    return loads;
}

std::vector<Loads> lognormal_routing(std::uint64_t seed, std::int64_t step, int layers, int experts,
                                     double skew) {
    if (step < 0 || step > 1'000'000 || !(skew >= 0 && skew <= 3))
        throw UserError(fmt::format(
            "lognormal routing is drawn for steps 0 to 1e6 and a skew of 0 to 3, not {} and {}",
            step, skew));
    constexpr double stays = 0.99;
    std::vector<Loads> loads;
    for (int layer = 0; layer < layers; ++layer) {
        std::mt19937_64 random =
            seeded_engine(seed, 0x6c6f676e /* "logn" */, static_cast<std::uint64_t>(layer));
        // Box and Muller's, of which one is enough.
        const auto normal = [&] {
            const double radius = std::sqrt(-2 * std::log(1 - uniform(random)));
            return radius * std::cos(2 * M_PI * uniform(random));
        };
        std::vector<double> z(static_cast<std::size_t>(experts));
        for (double& one : z) one = normal();
        for (std::int64_t knot = 0; knot < step / steps_of_lognormal_routing; ++knot)
            for (double& one : z) one = stays * one + std::sqrt(1 - stays * stays) * normal();
        double sum = 0;
        for (double& one : z) sum += one = std::exp(skew * one);
        Loads& of_layer = loads.emplace_back();
        for (const double one : z) of_layer.push_back(1 + std::llround(one / sum * tokens));
    }
    return loads;
}

std::string synthetic_routing_csv() {
    constexpr int layers = 12;
    std::string csv = "iteration,layer";
    for (int e = 0; e < experts; ++e) csv += fmt::format(",e{}", e);
    csv += '\n';
    for (int step = 1; step <= 5001; step += 200) {
        const std::vector<Loads> loads = drifting_routing(1, step, layers);
        for (std::size_t layer = 0; layer < loads.size(); ++layer)
            csv += fmt::format("{},{},{}\n", step, layer, fmt::join(loads[layer], ","));
    }
    return csv;
}

}  // namespace assay::lazarus
