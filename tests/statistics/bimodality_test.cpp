#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "suite/measure/statistics/bimodality.hpp"
#include "tests/statistics/random_samples.hpp"
#include "tests/statistics/reference_samples.hpp"

namespace assay::statistics {
namespace {

std::vector<double> memory_placement(int n, double share_high) {
    CounterDraws draws(n);
    std::vector<double> times;
    for (int i = 0; i < n; ++i)
        times.push_back((i < share_high * n ? 25.5 : 22.5) +
                        0.05 * normal_quantile(draws.uniform()));
    return times;
}

TEST(Bimodality, DescribesTheTwoClusters) {
    const Bimodality found = bimodality(memory_placement(40, 0.4));
    EXPECT_TRUE(found.bimodal);
    EXPECT_NEAR(found.low, 22.5, 0.05);
    EXPECT_NEAR(found.high, 25.5, 0.05);
    EXPECT_DOUBLE_EQ(found.share_high, 0.4);
    EXPECT_NEAR(found.separation, 60, 15);  // 3 / 0.05
}

TEST(Bimodality, NeedsEnoughValuesInBoth) {
    EXPECT_FALSE(bimodality(memory_placement(9, 0.5)).bimodal);
    EXPECT_TRUE(bimodality(memory_placement(10, 0.5)).bimodal);
    EXPECT_FALSE(bimodality(memory_placement(100, 0.03)).bimodal);  // three outliers
    // Two outliers side by side: far enough apart for Ashman's D, but one mode to the dip test.
    EXPECT_FALSE(bimodality(memory_placement(20, 0.1)).bimodal);
    EXPECT_GT(bimodality(memory_placement(20, 0.1)).separation, 20);
    EXPECT_FALSE(bimodality({}).bimodal);
}

TEST(Bimodality, OfValuesThatRepeat) {
    std::vector<double> values(20, 1.0);
    EXPECT_FALSE(bimodality(values).bimodal);
    EXPECT_EQ(bimodality(values).separation, 0);
    std::fill_n(values.begin(), 8, 2.0);
    EXPECT_TRUE(bimodality(values).bimodal);
    EXPECT_TRUE(std::isinf(bimodality(values).separation));
    values[3] = std::numeric_limits<double>::infinity();
    EXPECT_THROW(bimodality(values), std::invalid_argument);
}

TEST(Bimodality, KnowsNeitherScaleNorOrderNorPlace) {
    CounterDraws draws(8);
    for (Kind kind : {Kind::normal, Kind::bimodal}) {
        const auto values = sample(kind, 30, draws);
        const Bimodality found = bimodality(values);
        EXPECT_EQ(found.bimodal, kind == Kind::bimodal);
        const Bimodality twice = bimodality(scaled(values, 2));
        EXPECT_EQ(twice.separation, found.separation);
        EXPECT_EQ(twice.high, 2 * found.high);
        const Bimodality back = bimodality(std::vector<double>(values.rbegin(), values.rend()));
        EXPECT_EQ(back.separation, found.separation);
        auto far = values;
        for (double& v : far) v += 1e6;
        EXPECT_NEAR(bimodality(far).separation / found.separation, 1, 1e-6);
    }
}

double share_called_bimodal(Kind kind, int n, int samples) {
    CounterDraws draws(1000 * n + static_cast<int>(kind));
    int called = 0;
    for (int i = 0; i < samples; ++i) called += bimodality(sample(kind, n, draws)).bimodal;
    return double(called) / samples;
}

// Measured: at most 0.6 %, of uniform samples of fifteen; a gate looks at many rows a night.
TEST(Bimodality, RarelySeesTwoClustersInOne) {
    for (Kind kind : {Kind::normal, Kind::lognormal, Kind::uniform})
        for (int n : {10, 15, 20, 50, 200}) {
            const double share = share_called_bimodal(kind, n, 3000);
            std::printf("%-9s n %3d: false %.4f\n", name(kind), n, share);
            EXPECT_LE(share, 0.01) << name(kind) << ", " << n;
        }
}

// Why the dip test is needed: a few disturbed runs are no second level. Measured: 1 %, and Ashman's
// D alone 21, 54 and 57 %.
TEST(Bimodality, TakesDisturbedRunsForNoCluster) {
    for (const int n : {10, 20, 50}) {
        CounterDraws draws(static_cast<std::uint64_t>(n));
        constexpr int samples = 2000;
        int called = 0, apart = 0;
        for (int i = 0; i < samples; ++i) {
            std::vector<double> values(static_cast<std::size_t>(n));
            for (double& value : values)
                value =
                    (draws.uniform() < 0.1 ? 1.2 + 0.01 * normal_quantile(draws.uniform()) : 1) *
                    (1 + 0.02 * normal_quantile(draws.uniform()));
            const Bimodality found = bimodality(values);
            called += found.bimodal;
            apart += found.separation > 5 + 25.0 / n;
        }
        EXPECT_LE(called, samples * 3 / 100) << n;
        EXPECT_GE(apart, samples * 15 / 100) << n;
    }
}

// Each value falls into either heap with even odds: of ten, often three against seven or fewer,
// which one mode and chance explain as well. Measured: 0.62, 0.82, 0.93, 1.
TEST(Bimodality, SeesClustersTenSpreadsApart) {
    for (const auto& [n, least] : {std::pair{10, 0.55}, {15, 0.75}, {20, 0.88}, {50, 0.99}}) {
        const double share = share_called_bimodal(Kind::bimodal, n, 1000);
        std::printf("bimodal   n %3d: power %.4f\n", n, share);
        EXPECT_GE(share, least) << n;
    }
}

}  // namespace
}  // namespace assay::statistics
