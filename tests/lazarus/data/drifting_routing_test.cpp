// The synthetic routing that drifts: its skew, how fast it changes, and the shipped file.
// ASSAY_UPDATE_GOLDEN=1 writes datasets/traces/synthetic-routing.csv anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <string>

#include "impls/lazarus/data/routing_trace.hpp"
#include "impls/lazarus/data/synthetic_routing.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

double total(const Loads& loads) { return std::accumulate(loads.begin(), loads.end(), 0.0); }

std::set<std::size_t> hottest(const Loads& loads, std::size_t count) {
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
    return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)};
}

// Half the sum of the differences of the shares: the part of the tokens that moved elsewhere.
double moved(const Loads& a, const Loads& b) {
    double sum = 0;
    for (std::size_t e = 0; e < a.size(); ++e)
        sum +=
            std::abs(static_cast<double>(a[e]) / total(a) - static_cast<double>(b[e]) / total(b));
    return sum / 2;
}

struct Change {
    double same_of_8 = 0, moved = 0;
};
Change change_over(std::int64_t steps) {
    Change change;
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (const std::int64_t from : {1001, 1401, 1801}) {
            const auto before = drifting_routing(seed, from, 12);
            const auto after = drifting_routing(seed, from + steps, 12);
            for (std::size_t layer = 0; layer < 12; ++layer, ++count) {
                for (const std::size_t expert : hottest(before[layer], 8))
                    change.same_of_8 += static_cast<double>(hottest(after[layer], 8).count(expert));
                change.moved += moved(before[layer], after[layer]);
            }
        }
    return {change.same_of_8 / count, change.moved / count};
}

// The SmartMoE trace: 7.5 of 8 and 0.058 over 1000 steps. Independent draws would keep 2 of 8.
TEST(LazarusDriftingRouting, HotExpertsStayHotForLong) {
    const Change near = change_over(200), far = change_over(1000), farthest = change_over(3000);
    EXPECT_GT(near.same_of_8, 7.7);
    EXPECT_LT(near.moved, 0.03);
    EXPECT_NEAR(far.same_of_8, 7.5, 0.4);
    EXPECT_NEAR(far.moved, 0.058, 0.03);
    EXPECT_LT(farthest.same_of_8, far.same_of_8);
    EXPECT_GT(farthest.moved, far.moved) << "it does move on";
}

TEST(LazarusDriftingRouting, KeepsThePublishedSkewAtAndBetweenKnots) {
    for (const std::int64_t step : {0, 500, 2001, 4777}) {
        double top8 = 0, top16 = 0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed)
            for (Loads loads : drifting_routing(seed, step, 12)) {
                ASSERT_EQ(loads.size(), 32U);
                std::sort(loads.begin(), loads.end(), std::greater<>());
                ASSERT_GE(loads.back(), 1);
                top8 += std::accumulate(loads.begin(), loads.begin() + 8, 0.0) / total(loads);
                top16 += std::accumulate(loads.begin(), loads.begin() + 16, 0.0) / total(loads);
            }
        EXPECT_NEAR(top8 / 240, 0.901, 0.02) << step;
        EXPECT_NEAR(top16 / 240, 0.983, 0.01) << step;
    }
}

TEST(LazarusDriftingRouting, IsContinuousAtKnots) {
    for (const std::int64_t knot : {1000, 2000}) {
        const auto before = drifting_routing(5, knot - 1, 3), at = drifting_routing(5, knot, 3);
        for (std::size_t layer = 0; layer < 3; ++layer)
            EXPECT_LT(moved(before[layer], at[layer]), 0.001);
    }
}

TEST(LazarusDriftingRouting, DependsOnSeedStepAndLayerOnly) {
    EXPECT_EQ(drifting_routing(3, 1234, 4), drifting_routing(3, 1234, 4));
    EXPECT_NE(drifting_routing(3, 1234, 4), drifting_routing(4, 1234, 4));
    const auto layers = drifting_routing(3, 1234, 4);
    EXPECT_NE(layers[0], layers[1]);
    EXPECT_EQ(drifting_routing(3, 1234, 2)[1], layers[1]);
    EXPECT_THROW(drifting_routing(1, -1, 1), UserError);
    EXPECT_THROW(drifting_routing(1, 2'000'000'000, 1), UserError);
}

TEST(LazarusShippedRouting, IsWhatTheCodeDraws) {
    const auto file = std::filesystem::path(ASSAY_TEST_DATASETS) / "traces/synthetic-routing.csv";
    if (std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(file, std::ios::binary) << synthetic_routing_csv();
        return;
    }
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    ASSERT_FALSE(text.empty()) << file << " is missing";
    // Not EXPECT_EQ: gtest would spend minutes on the difference.
    EXPECT_TRUE(text == synthetic_routing_csv())
        << file << " differs from what the code draws; ASSAY_UPDATE_GOLDEN=1 writes it anew";
    const RoutingTrace trace = RoutingTrace::parse(text, "synthetic-routing.csv");
    EXPECT_EQ(trace.experts(), 32);
    for (std::int64_t step = 1; step <= 5001; step += 200)
        EXPECT_EQ(trace.at(step, 12), drifting_routing(1, step, 12)) << step;
}

}  // namespace
}  // namespace assay::lazarus
