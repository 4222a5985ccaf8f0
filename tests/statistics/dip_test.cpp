// Hartigan's dip test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "suite/measure/statistics/bimodality.hpp"
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

// Shares of 20,000 uniform samples whose diptest.dipstat (diptest 0.12.0) reaches the dip: 3.8 % of
// 57 reach 0.068, 20.7 % only 0.055. The size lies between those of the table.
TEST(CriticalDip, AgreesWithSimulationElsewhere) {
    EXPECT_LT(critical_dip(57), 0.068);
    EXPECT_NEAR(critical_dip(57), 0.068, 0.002);
    EXPECT_GT(critical_dip(57), 0.055);
    EXPECT_GT(critical_dip(10), 0.13);      // 10.4 % reach that
    EXPECT_GT(critical_dip(20), 0.09);      // 17.8 %
    EXPECT_GT(critical_dip(3000), 0.0085);  // 16 %
}

TEST(CriticalDip, IsWhatOneOfTwentyUniformSamplesExceeds) {
    constexpr int kSamples = 4000;
    for (const int n : {10, 12, 15, 17, 20, 25, 30, 40, 50, 75, 100, 150, 200}) {
        CounterDraws draws(static_cast<std::uint64_t>(n));
        const double critical = critical_dip(static_cast<std::size_t>(n));
        int beyond = 0;
        for (int i = 0; i < kSamples; ++i)
            beyond += dip_of(sample(Kind::uniform, n, draws)) > critical;
        EXPECT_NEAR(double(beyond) / kSamples, 0.05, 0.014) << n;  // four standard errors
    }
}

TEST(CriticalDip, FallsWithTheNumberOfValues) {
    double before = 1;
    for (std::size_t n = 10; n < 20000; n += 1 + n / 10) {
        EXPECT_LT(critical_dip(n), before) << n;
        before = critical_dip(n);
    }
    EXPECT_NEAR(critical_dip(1000000), 0.5418e-3, 1e-9);  // as of the table's last, 5000
    EXPECT_THROW(critical_dip(9), std::invalid_argument);
}

}  // namespace
}  // namespace assay::statistics
