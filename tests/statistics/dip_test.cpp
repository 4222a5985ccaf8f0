#include "suite/measure/statistics/dip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "suite/measure/statistics/dip_table.hpp"
#include "tests/statistics/random_samples.hpp"
#include "tests/statistics/reference_samples.hpp"

namespace assay::statistics {
namespace {

double dip_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return dip(values);
}

// diptest 0.12.0, diptest.dipstat(allow_zero=False).
TEST(Dip, IsThatOfDiptest) {
    EXPECT_NEAR(dip_of(kFifty), 0.028290598290598386, 1e-15);
    EXPECT_NEAR(dip_of(kTiedA), 0.07142857142857142, 1e-15);
    std::vector<double> two_heaps = kEight;
    for (double v : kSeven) two_heaps.push_back(v + 10);
    EXPECT_NEAR(dip_of(two_heaps), 0.1466435185185185, 1e-15);
    std::vector<double> wavy;
    for (int i = 0; i < 40; ++i)
        wavy.push_back(i % 5 < 3 ? 22.5 + 0.05 * std::sin(3 * i) : 25.5 + 0.05 * std::cos(7 * i));
    EXPECT_NEAR(dip_of(wavy), 0.19339757761181908, 1e-12);
}

TEST(Dip, HasItsBounds) {
    EXPECT_EQ(dip_of({3}), 0.5);
    EXPECT_EQ(dip_of({3, 3, 3, 3}), 0.125);  // one mode: half a step
    EXPECT_EQ(dip_of({1, 2, 3, 4, 5}), 0.1);
    std::vector<double> halves(1000, 0.0);
    std::fill_n(halves.begin(), 500, 1.0);
    EXPECT_NEAR(dip_of(halves), 0.25, 1e-12);
    EXPECT_THROW(dip({}), std::invalid_argument);
}

TEST(Dip, KnowsNeitherScaleNorPlaceNorDirection) {
    CounterDraws draws(4);
    for (Kind kind : {Kind::normal, Kind::lognormal, Kind::bimodal}) {
        const auto values = sample(kind, 70, draws);
        EXPECT_EQ(dip_of(scaled(values, 1024)), dip_of(values));
        EXPECT_NEAR(dip_of(scaled(values, -1)), dip_of(values), 1e-14);
    }
}

// Shares of 20,000 uniform samples whose diptest.dipstat (diptest 0.12.0) reaches the dip; standard
// error up to 0.003. The sizes lie between those of the table.
TEST(DipPValue, AgreesWithSimulationElsewhere) {
    EXPECT_NEAR(dip_p_value(0.13, 10), 0.10425, 0.012);
    EXPECT_NEAR(dip_p_value(0.09, 20), 0.1781, 0.012);
    EXPECT_NEAR(dip_p_value(0.055, 57), 0.20685, 0.012);
    EXPECT_NEAR(dip_p_value(0.068, 57), 0.03795, 0.006);
    EXPECT_NEAR(dip_p_value(0.0085, 3000), 0.1602, 0.012);
}

TEST(DipPValue, TableComesFromTheDipOfUniformSamples) {
    constexpr int kSamples = 4000;
    for (const auto& row : dip_table()) {
        if (row.n > 200) break;
        CounterDraws draws(row.n);
        int beyond_90 = 0, beyond_99 = 0;
        for (int i = 0; i < kSamples; ++i) {
            const double scaled =
                std::sqrt(double(row.n)) * dip_of(sample(Kind::uniform, row.n, draws));
            beyond_90 += scaled > row.root_n_dip[7];
            beyond_99 += scaled > row.root_n_dip[10];
        }
        EXPECT_NEAR(double(beyond_90) / kSamples, 0.1, 0.02) << row.n;  // four standard errors
        EXPECT_NEAR(double(beyond_99) / kSamples, 0.01, 0.0065) << row.n;
    }
    EXPECT_EQ(kDipShares[7], 0.9);
    EXPECT_EQ(kDipShares[10], 0.99);
}

TEST(DipPValue, FallsWithTheDipAndEndsWhereTheTableDoes) {
    for (std::size_t n : {8, 11, 60, 4000, 1000000}) {
        double before = 1;
        for (double dip = 0.5 / double(n); dip < 0.25; dip *= 1.1) {
            EXPECT_LE(dip_p_value(dip, n), before + 1e-15) << n << ", " << dip;
            before = dip_p_value(dip, n);
        }
        EXPECT_EQ(dip_p_value(0, n), 1);
    }
    EXPECT_NEAR(dip_p_value(0.25, 100), 1e-4, 1e-12);
    EXPECT_THROW(dip_p_value(0.1, 3), std::invalid_argument);
}

}  // namespace
}  // namespace assay::statistics
