// Generated traces: equal for equal seeds, possible, and with the statistics of their process. The
// bounds lie four to five standard deviations out, and seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "suite/scenario/dice.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay {
namespace {

using Kind = TraceProcess::Kind;
constexpr Kind kinds[] = {Kind::poisson, Kind::bursts, Kind::hourly};

TraceProcess process_of(Kind kind, int nodes, double hours, double loss, double back,
                        std::uint64_t seed) {
    TraceProcess process;
    process.kind = kind;
    process.nodes = nodes;
    process.hours = hours;
    process.loss_per_hour = loss;
    process.return_per_hour = back;
    process.seed = seed;
    return process;
}

// A change of these numbers changes what every recorded seed means.
TEST(Dice, ASeedMeansTheSameEverywhere) {
    Dice dice(5489);  // the standard gives the 10,000th draw of this seed
    for (int i = 1; i < 10000; ++i) dice.uniform();
    EXPECT_EQ(dice.uniform(), static_cast<double>(9981545732273789042ULL >> 11) * 0x1p-53);
    std::string lines;
    for (const TraceEvent& event :
         generate_trace(process_of(Kind::poisson, 3, 4, 0.5, 1, 1)).events)
        if (event.t_s > 0)
            lines += (event.add ? "+" : "-") + event.node + "@" +
                     std::to_string(std::lround(event.t_s * 1000)) + " ";
    EXPECT_EQ(lines,
              "-node1@321304 -node3@396992 -node2@1041055 +node4@3139844 "
              "+node5@3264258 +node6@4677344 -node6@9209553 +node7@9279829 ");
}

TEST(GeneratedTraces, SeedsDecideAndNothingElse) {
    for (const Kind kind : kinds) {
        const auto trace = [&](std::uint64_t seed) {
            return generate_trace(process_of(kind, 20, 10, 0.2, 0.5, seed));
        };
        EXPECT_EQ(trace(1), trace(1));
        EXPECT_NE(trace(1).events, trace(2).events);
        EXPECT_EQ(of_word<TraceProcess::Kind>(to_string(kind)), kind);
    }
    EXPECT_FALSE(of_word<TraceProcess::Kind>("weekly"));
}

TEST(GeneratedTraces, ArePossible) {
    for (const Kind kind : kinds)
        for (std::uint64_t seed = 1; seed <= 30; ++seed) {
            const TraceProcess process = process_of(kind, 1 + static_cast<int>(seed % 9), 7.5,
                                                    0.1 * static_cast<double>(seed % 8), 0.6, seed);
            const AvailabilityTrace trace = generate_trace(process);
            SCOPED_TRACE(trace.says);
            EXPECT_EQ(trace.duration_s, 7.5 * 3600);
            std::set<std::string> alive, ever;
            double last = 0;
            for (const TraceEvent& event : trace.events) {
                ASSERT_GE(event.t_s, last);
                ASSERT_LE(event.t_s, trace.duration_s);
                last = event.t_s;
                if (event.add) {
                    ASSERT_TRUE(ever.insert(event.node).second) << "newcomers have new names";
                }
                ASSERT_EQ(event.add ? alive.insert(event.node).second : alive.erase(event.node) > 0,
                          true);
                ASSERT_LE(alive.size(), static_cast<std::size_t>(process.nodes));
            }
            EXPECT_EQ(trace_statistics(trace).initial, process.nodes);
        }
}

// 1000 nodes for an hour, nobody comes back: Binomial(1000, p) are lost, at uniform seconds.
TEST(HourlyTraces, LoseTheGivenFraction) {
    for (const double p : {0.05, 0.3}) {
        const AvailabilityTrace trace = generate_trace(process_of(Kind::hourly, 1000, 1, p, 0, 3));
        const TraceStatistics found = trace_statistics(trace);
        EXPECT_NEAR(found.losses, 1000 * p, 4.5 * std::sqrt(1000 * p * (1 - p)));
        EXPECT_EQ(found.additions, 0);
        double sum = 0;
        for (const TraceEvent& event : trace.events) {
            EXPECT_EQ(event.t_s, std::floor(event.t_s));
            if (!event.add) sum += event.t_s;
        }
        EXPECT_NEAR(sum / found.losses, 1800.5, 5 * 1039 / std::sqrt(found.losses));
    }
}

// Every hour is a new draw: after h hours (1-p)^h of the nodes are left.
TEST(HourlyTraces, LossesCompound) {
    const TraceStatistics found =
        trace_statistics(generate_trace(process_of(Kind::hourly, 1000, 10, 0.1, 0, 5)));
    const double left = std::pow(0.9, 10);
    EXPECT_NEAR(found.fewest, 1000 * left, 4.5 * std::sqrt(1000 * left * (1 - left)));
}

// All are lost in the hour, and every missing one is asked for again; a request that comes before a
// loss has made room is discarded, and half of the newcomers are lost in turn: their second is
// uniform too, and must lie after their arrival.
TEST(HourlyTraces, NewcomersMayBeLostInTheSameHour) {
    const TraceStatistics found =
        trace_statistics(generate_trace(process_of(Kind::hourly, 2000, 1, 1, 1, 9)));
    EXPECT_GT(found.additions, 1500);
    EXPECT_GT(found.losses, 2000);
    const int newcomers_lost = found.losses - 2000;
    EXPECT_NEAR(newcomers_lost, found.additions / 2, 0.1 * found.additions);
}

TEST(HourlyTraces, ReturnWithTheGivenProbability) {
    // Per hour a node is lost with p; a missing one comes back with q. With small p and q the share
    // alive is near q / (p + q).
    const TraceStatistics found =
        trace_statistics(generate_trace(process_of(Kind::hourly, 400, 400, 0.02, 0.05, 11)));
    EXPECT_NEAR(found.mean / 400, 0.05 / 0.07, 0.05);
}

TEST(PoissonTraces, LoseAndReturnAtTheirRates) {
    // Without returns exp(-λ t) are left.
    const TraceStatistics alone =
        trace_statistics(generate_trace(process_of(Kind::poisson, 1000, 2, 0.4, 0, 3)));
    const double left = std::exp(-0.8);
    EXPECT_NEAR(alone.fewest, 1000 * left, 4.5 * std::sqrt(1000 * left * (1 - left)));
    // With returns the share alive tends to μ / (λ + μ).
    const TraceStatistics both =
        trace_statistics(generate_trace(process_of(Kind::poisson, 200, 200, 0.5, 1.5, 3)));
    EXPECT_NEAR(both.mean / 200, 0.75, 0.02);
    EXPECT_NEAR(both.losses, 0.75 * 200 * 0.5 * 200, 0.04 * 15000);
}

TEST(BurstTraces, ComeAtTheirRateAndSize) {
    TraceProcess process = process_of(Kind::bursts, 1000, 1000, 0.5, 3600, 4);
    process.burst = 5;
    const AvailabilityTrace trace = generate_trace(process);
    const TraceStatistics found = trace_statistics(trace);
    EXPECT_EQ(found.largest_loss, 5);
    // 500 bursts of 3 on average (variance 2 + 9 for the number itself).
    EXPECT_NEAR(found.losses, 1500, 4.5 * std::sqrt(500 * 11));
    EXPECT_NEAR(found.mean_between_losses_s, 7200, 4.5 * 7200 / std::sqrt(500));
}

// Without a burst the picture of a fresh user would show nothing.
TEST(GeneratedTraces, LoseNodesWithinAnHourUnlessToldOtherwise) {
    for (const Kind kind : kinds) {
        int with_losses = 0;
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            TraceProcess process;
            process.kind = kind;
            process.seed = seed;
            const TraceStatistics found = trace_statistics(generate_trace(process));
            if (seed == 1) {
                EXPECT_GT(found.losses, 0) << to_string(kind);
            }
            with_losses += found.losses > 0;
        }
        // Of a hundred 63 to 65, for bursts 95, have a loss; four standard deviations off.
        EXPECT_GT(with_losses, kind == Kind::bursts ? 86 : 43) << to_string(kind);
        EXPECT_DOUBLE_EQ(usual_loss_per_hour(kind), kind == Kind::bursts ? 3 : 0.1);
    }
}

TEST(GeneratedTraces, RefuseWhatIsOutOfRange) {
    const auto refused = [](auto change) {
        TraceProcess process;
        change(process);
        EXPECT_THROW(generate_trace(process), UserError);
    };
    refused([](TraceProcess& p) { p.nodes = 0; });
    refused([](TraceProcess& p) { p.nodes = 10001; });
    refused([](TraceProcess& p) { p.hours = 0; });
    refused([](TraceProcess& p) { p.hours = std::nan(""); });
    refused([](TraceProcess& p) { p.hours = 1e6; });
    refused([](TraceProcess& p) { p.loss_per_hour = -0.1; });
    refused([](TraceProcess& p) { p.return_per_hour = INFINITY; });
    refused([](TraceProcess& p) { p.returns_vary = true; });  // of poisson
    refused([](TraceProcess& p) { p.kind = Kind::hourly, p.loss_per_hour = 1.1; });
    refused([](TraceProcess& p) { p.kind = Kind::bursts, p.burst = 0; });
    refused([](TraceProcess& p) {
        p.nodes = 10000, p.hours = 8000, p.loss_per_hour = p.return_per_hour = 3600;
    });
}

TEST(TraceGenerate, ReturnsMayVaryFromHourToHour) {
    // Everyone is lost in every hour: what comes back says what that hour's probability was.
    TraceProcess process = process_of(Kind::hourly, 4000, 1, 1, 0.5, 21);
    process.returns_vary = true;
    double least = 1, most = 0, sum = 0;
    for (process.seed = 1; process.seed <= 40; ++process.seed) {
        const double share = trace_statistics(generate_trace(process)).additions / 4000.0;
        least = std::min(least, share), most = std::max(most, share), sum += share / 40;
    }
    EXPECT_LT(least, 0.2);
    EXPECT_GT(most, 0.8);
    EXPECT_NEAR(sum, 0.5, 0.15);
}

}  // namespace
}  // namespace assay
