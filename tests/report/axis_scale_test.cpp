// Properties of ticks over many seeded ranges, from 1e-12 to 1e12 and of all signs.
#include "suite/report/figures/axis_scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace assay::report {
namespace {

/// 1, 2 or 5 times a power of ten.
bool is_round(double value) {
    const double digits =
        std::abs(value) / std::pow(10, std::floor(std::log10(std::abs(value)) + 1e-9));
    for (const double factor : {1.0, 2.0, 5.0, 10.0})
        if (std::abs(digits - factor) < 1e-6) return true;
    return false;
}

void expect_covering(const std::vector<double>& ticks, double low, double high) {
    const double slack = 1e-8 * std::max({std::abs(low), std::abs(high), ticks[1] - ticks[0]});
    EXPECT_GE(ticks.size(), 3u) << low << " " << high;
    EXPECT_LE(ticks.size(), 10u) << low << " " << high;
    EXPECT_LE(ticks.front(), low + slack);
    EXPECT_GE(ticks.back(), high - slack);
    for (std::size_t i = 1; i < ticks.size(); ++i) EXPECT_GT(ticks[i], ticks[i - 1]);
}

TEST(RoundTicks, CoverTheRangeWithThreeToTenRoundSteps) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> power(-12, 12), sign(-1, 1);
    for (int i = 0; i < 5000; ++i) {
        double low = sign(random) * std::pow(10, power(random));
        double high = low + std::pow(10, power(random));
        const auto ticks = round_ticks(low, high);
        expect_covering(ticks, low, high);
        if (high - low > std::abs(low) * 1e-6) {
            EXPECT_TRUE(is_round(ticks[1] - ticks[0]));
        }
    }
}

TEST(RoundTicks, WholeNumbersStayWhole) {
    for (int low = -3; low < 30; ++low)
        for (int span = 0; span < 40; ++span) {
            const auto ticks = round_ticks(low, low + span, true);
            expect_covering(ticks, low, low + span);
            for (const double tick : ticks) EXPECT_EQ(tick, std::floor(tick));
        }
}

TEST(RoundTicks, ProbabilitiesEndAtOne) {
    const auto ticks = round_ticks(0, 1);
    EXPECT_EQ(ticks.front(), 0);
    EXPECT_DOUBLE_EQ(ticks.back(), 1);
}

TEST(LogTicks, CoverTheRange) {
    std::mt19937_64 random(8);
    std::uniform_real_distribution<double> power(-12, 12), span(0, 20);
    for (int i = 0; i < 5000; ++i) {
        const double low = std::pow(10, power(random)), high = low * std::pow(10, span(random));
        const auto ticks = log_ticks(low, high);
        expect_covering(ticks, low, high);
        for (const double tick : ticks) EXPECT_TRUE(is_round(tick)) << tick;
    }
}

TEST(AxisScale, PositionsRunFromZeroToOne) {
    for (const AxisScale& scale : {AxisScale::linear(-3, 17), AxisScale::logarithmic(0.02, 900)}) {
        EXPECT_DOUBLE_EQ(scale.position(scale.low()), 0);
        EXPECT_DOUBLE_EQ(scale.position(scale.high()), 1);
        double before = -1;
        for (const double tick : scale.ticks()) {
            EXPECT_GT(scale.position(tick), before);
            before = scale.position(tick);
        }
    }
    EXPECT_DOUBLE_EQ(AxisScale::categories(4).position(0), 0.125);
}

TEST(AxisScale, LabelsTellTicksApart) {
    for (const AxisScale& scale :
         {AxisScale::linear(0, 1), AxisScale::linear(0.9991, 0.9993), AxisScale::linear(0, 3e6),
          AxisScale::linear(0, 2e-5), AxisScale::logarithmic(1, 1e6)}) {
        std::set<std::string> labels;
        for (const double tick : scale.ticks()) labels.insert(scale.label(tick));
        EXPECT_EQ(labels.size(), scale.ticks().size());
    }
    EXPECT_EQ(AxisScale::linear(0, 1).label(0.2), "0.2");
    EXPECT_EQ(AxisScale::linear(0, 3e6).label(2e6), "2M");
}

// A part of an axis has round ticks of its own inside, and labels that tell them apart.
TEST(AxisPart, HasTicksInsideThatAreToldApart) {
    for (const AxisScale& whole :
         {AxisScale::linear(0, 4800), AxisScale::logarithmic(0.001, 90), AxisScale::until(3.64)})
        for (double from = 0.1, to = 0.9; to - from > 1e-5; from += 0.3 * (to - from)) {
            const AxisScale part = whole.part(whole.value_at(from), whole.value_at(to));
            EXPECT_DOUBLE_EQ(part.position(part.low()), 0);
            EXPECT_NEAR(part.position(part.high()), 1, 1e-12);
            ASSERT_GE(part.ticks().size(), 2u) << from;
            std::set<std::string> labels;
            for (const double tick : part.ticks()) {
                EXPECT_GE(tick, part.low());
                EXPECT_LE(tick, part.high());
                EXPECT_TRUE(labels.insert(part.label(tick)).second) << part.label(tick);
                EXPECT_NEAR(part.value_at(part.position(tick)), tick, 1e-9 * std::abs(tick));
            }
        }
}

}  // namespace
}  // namespace assay::report
