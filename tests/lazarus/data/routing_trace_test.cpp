// Routing traces: the CSV form, what errors say, and the stand-in of our own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "impls/lazarus/data/routing_trace.hpp"
#include "impls/lazarus/data/synthetic_routing.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(std::string_view csv) {
    try {
        RoutingTrace::parse(csv, "trace.csv");
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(LazarusRoutingTrace, ReadsLayersOfAnIteration) {
    const RoutingTrace trace =
        RoutingTrace::parse("iteration,layer,e0,e1\r\n1,0,5,6\r\n1,1,7,8\n\n11,0,9,0", "x");
    EXPECT_EQ(trace.experts(), 2);
    EXPECT_THAT(trace.at(1, 2), ElementsAre(Loads{5, 6}, Loads{7, 8}));
    EXPECT_THAT(trace.at(11, 1), ElementsAre(Loads{9, 0}));
    EXPECT_THROW(trace.at(2, 1), UserError);
    EXPECT_THROW(trace.at(11, 2), UserError);
}

TEST(LazarusRoutingTrace, NamesTheLineOfWhatIsWrong) {
    const std::string header = "iteration,layer,e0,e1\n";
    EXPECT_THAT(error_of(""), HasSubstr("empty"));
    EXPECT_THAT(error_of(header), HasSubstr("no rows"));
    EXPECT_THAT(error_of("step,layer,e0\n1,0,1"), StartsWith("trace.csv:1: expected the header"));
    EXPECT_THAT(error_of("iteration,layer,e0,e2\n"),
                StartsWith("trace.csv:1: column 4 of the header should be e1"));
    EXPECT_THAT(error_of(header + "1,0,5"), StartsWith("trace.csv:2: 3 fields, the header has 4"));
    EXPECT_THAT(error_of(header + "1,0,5,6\n1,1,5,-6"), StartsWith("trace.csv:3: field 4"));
    EXPECT_THAT(error_of(header + "1,0,5,9223372036854775808"), StartsWith("trace.csv:2: field 4"));
    EXPECT_THAT(error_of(header + "1,0,5, 6"), StartsWith("trace.csv:2: field 4"));
    EXPECT_THAT(error_of(header + "1,0,5,6\n1,0,5,6"),
                StartsWith("trace.csv:3: iteration 1, layer 0 a second time"));
}

TEST(LazarusRoutingTrace, KeepsTheMostLoadedExpertsInIndexOrder) {
    EXPECT_THAT(most_loaded({4, 9, 1, 7, 9}, 3), ElementsAre(9, 7, 9));
    EXPECT_THAT(most_loaded({5, 5, 5}, 2), ElementsAre(5, 5));
    EXPECT_THROW(most_loaded({1, 2}, 3), UserError);
}

TEST(LazarusSyntheticRouting, HasThePublishedSkewOnAverage) {
    double top8 = 0, top16 = 0;
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        for (Loads loads : synthetic_routing(seed, 200, 12)) {
            ASSERT_EQ(loads.size(), 32U);
            std::sort(loads.begin(), loads.end(), std::greater<>());
            ASSERT_GE(loads.back(), 1);
            const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
            top8 += std::accumulate(loads.begin(), loads.begin() + 8, 0.0) / total;
            top16 += std::accumulate(loads.begin(), loads.begin() + 16, 0.0) / total;
            ++count;
        }
    }
    EXPECT_NEAR(top8 / count, 0.901, 0.02);
    EXPECT_NEAR(top16 / count, 0.983, 0.01);
}

TEST(LazarusSyntheticRouting, DependsOnSeedStepAndLayerOnly) {
    EXPECT_EQ(synthetic_routing(3, 200, 4), synthetic_routing(3, 200, 4));
    EXPECT_NE(synthetic_routing(3, 200, 4), synthetic_routing(4, 200, 4));
    EXPECT_NE(synthetic_routing(3, 200, 4), synthetic_routing(3, 4000, 4));
    const auto layers = synthetic_routing(3, 200, 2);
    EXPECT_NE(layers[0], layers[1]);
}

}  // namespace
}  // namespace assay::lazarus
