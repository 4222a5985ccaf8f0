#include "suite/experiment/rate_curve.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace assay {
namespace {

double drawn(const RateCurve& curve, double bin_s) {
    return bin_s * std::accumulate(curve.per_s().begin(), curve.per_s().end(), 0.0);
}

TEST(RateCurve, WorkOverSeveralBinsIsSharedByTime) {
    RateCurve curve(180);
    curve.add(30, 150, 120);  // one a second
    EXPECT_EQ(curve.t_s(), (std::vector<double>{30, 90, 150}));
    EXPECT_EQ(curve.per_s(), (std::vector<double>{0.5, 1, 0.5}));
}

TEST(RateCurve, TheLastBinIsWholeAndTakesWhatComesLater) {
    RateCurve curve(15, 10);
    curve.add(12, 40, 28);
    EXPECT_EQ(curve.per_s(), (std::vector<double>{0, 2.8}));
}

TEST(RateCurve, NothingIsLost) {
    std::mt19937_64 dice(7);
    std::uniform_real_distribution<double> at(0, 5000), takes(1e-3, 700);
    for (const double bin_s : {1.0, 7.5, 60.0, 10000.0}) {
        RateCurve curve(5000, bin_s);
        double added = 0;
        for (int i = 0; i < 200; ++i) {
            const double from = at(dice);
            curve.add(from, from + takes(dice), i);
            added += i;
        }
        EXPECT_NEAR(drawn(curve, bin_s), added, 1e-6 * added);
    }
}

}  // namespace
}  // namespace assay
