#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "impls/lte/method/sparsity.hpp"

namespace assay::lte {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

at::Tensor mask(std::vector<std::vector<int>> rows) {
    std::vector<at::Tensor> parts;
    for (const auto& row : rows) parts.push_back(at::tensor(row).to(at::kBool));
    return at::stack(parts);
}

TEST(SparsityStatistics, CountsInactiveExpertsByLayer) {
    SparsityStatistics statistics(2);
    statistics.add(0, mask({{1, 0, 0, 0}, {1, 1, 0, 0}}));
    statistics.add(0, mask({{1, 1, 1, 1}}));
    statistics.add(1, mask({{0, 0, 0, 0}, {1, 1, 1, 1}}));
    EXPECT_THAT(statistics.by_layer(), ElementsAre(DoubleNear(5 / 12.0, 1e-12), 0.5));
    EXPECT_DOUBLE_EQ(statistics.mean(), (5 / 12.0 + 0.5) / 2);
    // Shares of active experts: 1/4, 2/4, 1 in layer 0; 0, 1 in layer 1.
    const double mean = 1.75 / 3;
    const double spread = std::sqrt((0.0625 + 0.25 + 1) / 3 - mean * mean);
    EXPECT_NEAR(statistics.token_spread(), (spread + 0.5) / 2, 1e-12);
}

TEST(SparsityStatistics, UnionOverOneTokenIsThePlainSparsity) {
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(std::uint64_t{4});
    SparsityStatistics statistics(1, true);
    statistics.add(0, at::rand({40, 16}, generator) > 0.7);
    EXPECT_NEAR(statistics.union_sparsity(1, 9), statistics.mean(), 1e-12);
}

// Masks as bits: the mean of the union over all pairs of tokens is what random batches of two
// estimate.
TEST(SparsityStatistics, UnionOfBatchesAgreesWithAllPairs) {
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(std::uint64_t{5});
    const auto active = at::rand({60, 12}, generator) > 0.6;
    std::vector<unsigned> bits(60, 0);
    for (std::int64_t t = 0; t < 60; ++t)
        for (std::int64_t e = 0; e < 12; ++e)
            if (active[t][e].item<bool>()) bits[static_cast<std::size_t>(t)] |= 1U << e;
    double used = 0, pairs = 0;
    for (std::size_t a = 0; a < 60; ++a)
        for (std::size_t b = a + 1; b < 60; ++b, ++pairs) used += std::popcount(bits[a] | bits[b]);
    const double exact = 1 - used / pairs / 12;

    SparsityStatistics statistics(1, true);
    statistics.add(0, active);
    double mean = 0;
    constexpr int draws = 200;
    for (std::uint64_t seed = 0; seed < draws; ++seed)
        mean += statistics.union_sparsity(2, seed) / draws;
    EXPECT_NEAR(mean, exact, 0.005);
    EXPECT_DOUBLE_EQ(statistics.union_sparsity(2, 3), statistics.union_sparsity(2, 3));
}

TEST(SparsityStatistics, UnionShrinksWithTheBatchAndEndsWithAllTokens) {
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(std::uint64_t{6});
    SparsityStatistics statistics(2, true);
    const auto one = at::rand({64, 20}, generator) > 0.9,
               other = at::rand({64, 20}, generator) > 0.8;
    statistics.add(0, one);
    statistics.add(1, other);
    double before = 1;
    for (int batch = 1; batch <= 64; batch *= 2) {
        const double now = statistics.union_sparsity(batch, 1);
        EXPECT_LE(now, before);
        before = now;
    }
    const double all =
        (one.any(0).to(at::kDouble).mean() + other.any(0).to(at::kDouble).mean()).item<double>() /
        2;
    EXPECT_NEAR(before, 1 - all, 1e-12);
}

// Half of the experts serve a token in five each, the others none: 0.1 are active.
TEST(SparsityStatistics, UnionsAreComparedWithThoseOfIndependentExperts) {
    const auto shared = [](int batch) { return 0.5 + 0.5 * std::pow(0.8, batch); };
    EXPECT_NEAR(union_over_independent(shared(16), shared(1), 16),
                0.5 * (1 - std::pow(0.8, 16)) / (1 - std::pow(0.9, 16)), 1e-12);
    EXPECT_NEAR(union_over_independent(std::pow(0.9, 16), 0.9, 16), 1, 1e-12);
    EXPECT_NEAR(union_over_independent(shared(1), shared(1), 1), 1, 1e-12);
    EXPECT_EQ(union_over_independent(1, 1, 16), 1);  // nothing is ever active
}

TEST(Scores, HistogramAndNearness) {
    const std::vector<at::Tensor> scores{at::tensor({0.0, 0.1, 0.45, 0.55}),
                                         at::tensor({0.9, 1.0})};
    EXPECT_THAT(score_histogram(scores, 4),
                ElementsAre(DoubleNear(2 / 6.0, 1e-9), DoubleNear(1 / 6.0, 1e-9),
                            DoubleNear(1 / 6.0, 1e-9), DoubleNear(2 / 6.0, 1e-9)));
    EXPECT_NEAR(near_threshold(scores, 0.5, 0.1), 2 / 6.0, 1e-12);
}

}  // namespace
}  // namespace assay::lte
