// Flows, work and hosts that go off, worked out by hand; and random flows beside fluids.
#include "suite/drive/simgrid/simgrid_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/drive/simgrid/fluid.hpp"
#include "tests/drive/simgrid/simgrid_time_fixture.hpp"

namespace assay::drive {
namespace {

using ::testing::ElementsAre;
using testing::one_switch;
using testing::racks;
using testing::servers;
using End = SimGridTime::End;

TEST_F(SimGridTimeTest, AFlowTakesItsLatencyAndItsBytes) {
    expect(one_switch(10, 3), 4, [](SimGridTime& time) {
        std::vector<std::string> seen;
        time.flow(0, 1, 50, note(seen, time, "alone"));
        time.flow(2, 3, 0, note(seen, time, "empty"));
        time.flow(2, 2, 1e9, note(seen, time, "own"));
        EXPECT_FALSE(time.empty());
        finish(time);
        EXPECT_THAT(seen, ElementsAre("own 0", "empty 3", "alone 8"));
        EXPECT_EQ(time.happened(), 3U);
        EXPECT_TRUE(time.empty());
        EXPECT_THROW(time.flow(0, 4, 1, {}), std::invalid_argument);
        EXPECT_THROW(time.flow(-1, 0, 1, {}), std::invalid_argument);
        EXPECT_THROW(time.flow(0, 1, -1, {}), std::invalid_argument);
        EXPECT_THROW(time.flow(0, 1, std::nan(""), {}), std::invalid_argument);
    });
}

TEST_F(SimGridTimeTest, FlowsShareLinksAndNotDirections) {
    expect(one_switch(10), 4, [](SimGridTime& time) {
        std::vector<std::string> seen;
        time.flow(0, 1, 100, note(seen, time, "0-1"));
        time.flow(0, 2, 50, note(seen, time, "0-2"));
        time.flow(1, 0, 100, note(seen, time, "1-0"));
        time.flow(3, 3, 1, note(seen, time, "3-3"));
        finish(time);
        EXPECT_THAT(seen, ElementsAre("3-3 0", "0-2 10", "1-0 10", "0-1 15"));
    });
}

TEST_F(SimGridTimeTest, WhatComesLaterSlowsDownWhatIsUnderWay) {
    expect(one_switch(10), 3, [](SimGridTime& time) {
        std::vector<std::string> seen;
        time.flow(0, 1, 100, note(seen, time, "first"));
        time.at(4, [&] { time.flow(0, 2, 100, note(seen, time, "second")); });
        // Alone after a pause, the engine's clock is not that of the simulation.
        time.at(100.5, [&] { time.flow(1, 2, 10, note(seen, time, "third")); });
        finish(time);
        EXPECT_THAT(seen, ElementsAre("first 16", "second 20", "third 101.5"));
    });
}

TEST_F(SimGridTimeTest, RanksOfANodeUseItsFabricAndShareItsInterface) {
    expect(servers({.nodes = 2, .ranks = 2, .inside = 100, .outside = 10}), 4,
           [](SimGridTime& time) {
               std::vector<std::string> seen;
               time.flow(0, 1, 1000, note(seen, time, "inside"));
               time.flow(0, 2, 100, note(seen, time, "out"));
               time.flow(1, 3, 100, note(seen, time, "out too"));
               finish(time);
               EXPECT_THAT(seen, ElementsAre("inside 10", "out 20", "out too 20"));
           });
}

TEST_F(SimGridTimeTest, RacksShareTheirUplinks) {
    expect(racks({.racks = 2, .nodes = 2, .outside = 10, .uplink = 8}), 4, [](SimGridTime& time) {
        std::vector<std::string> seen;
        time.flow(0, 2, 40, note(seen, time, "up"));
        time.flow(1, 3, 40, note(seen, time, "up too"));
        time.flow(2, 3, 30, note(seen, time, "beside"));
        finish(time);
        // The first two get 4 each, and leave 6 to the third.
        EXPECT_THAT(seen, ElementsAre("beside 5", "up 10", "up too 10"));
    });
}

TEST_F(SimGridTimeTest, RandomFlowsAreAsFastAsFluids) {
    const std::vector<std::pair<ClusterProfile, int>> networks = {
        {one_switch(1e9, 1e-3), 6},
        {servers({.nodes = 3,
                  .ranks = 4,
                  .nics = 2,
                  .inside = 3e9,
                  .outside = 1e9,
                  .inside_latency_s = 1e-4,
                  .outside_latency_s = 2e-3}),
         12},
        {racks({.racks = 3,
                .nodes = 3,
                .outside = 1e9,
                .uplink = 1.5e9,
                .outside_latency_s = 1e-3,
                .uplink_latency_s = 3e-3}),
         9},
    };
    for (const auto& [cluster, ranks] : networks) {
        const Topology topology(cluster);
        std::mt19937_64 random(17);
        std::uniform_real_distribution<double> moment(0, 10), size(1e6, 5e9);
        std::vector<double> bandwidths;
        for (int port = 0; port < topology.ports(ranks); ++port)
            bandwidths.insert(bandwidths.end(), 2, topology.port(port).bandwidth);
        struct Ask {
            int from, to;
            double t_s, bytes;
        };
        std::vector<Ask> asked;
        std::vector<testing::Fluid> fluids;
        for (int i = 0; i < 60; ++i) {
            const int from = static_cast<int>(random() % static_cast<unsigned>(ranks));
            const int to = (from + 1 + static_cast<int>(random() % (ranks - 1U))) % ranks;
            asked.push_back({from, to, moment(random), std::round(size(random))});
            const auto route = topology.route(from, to);
            testing::Fluid fluid;
            fluid.begins_s = asked.back().t_s + route.latency_s;
            fluid.bytes = asked.back().bytes;
            for (std::size_t hop = 0; hop < static_cast<std::size_t>(route.hops); ++hop)
                fluid.links.insert(fluid.links.end(), {2 * route.up[hop], 2 * route.down[hop] + 1});
            fluids.push_back(fluid);
        }
        testing::let_flow(fluids, bandwidths);
        expect(cluster, ranks, [&](SimGridTime& time) {
            std::vector<double> ends(asked.size(), 0);
            for (std::size_t i = 0; i < asked.size(); ++i)
                time.at(asked[i].t_s, [&, i] {
                    time.flow(asked[i].from, asked[i].to, asked[i].bytes,
                              [&, i](End) { ends[i] = time.now(); });
                });
            finish(time);
            for (std::size_t i = 0; i < ends.size(); ++i)
                EXPECT_NEAR(ends[i], fluids[i].ends_s, 1e-6 * fluids[i].ends_s) << i;
        });
    }
}

TEST_F(SimGridTimeTest, ACancelledFlowIsNotToldAndLeavesItsShare) {
    expect(one_switch(10, 1), 3, [](SimGridTime& time) {
        std::vector<std::string> seen;
        const auto gone = time.flow(0, 1, 100, note(seen, time, "gone"));
        time.flow(0, 2, 100, note(seen, time, "stays"));
        const auto early = time.flow(1, 2, 100, note(seen, time, "early"));
        time.cancel(early);  // its latency is not even over
        time.at(7, [&] { time.cancel(gone); });
        finish(time);
        time.cancel(gone);
        // Six seconds at half the rate, then alone.
        EXPECT_THAT(seen, ElementsAre("stays 14"));
        EXPECT_TRUE(time.empty());
    });
}

TEST_F(SimGridTimeTest, AHostThatGoesOffEndsItsFlowsAndItsWorkThen) {
    expect(one_switch(10, 1), 4, [](SimGridTime& time) {
        std::vector<std::string> seen;
        time.flow(0, 1, 100, note(seen, time, "from it"));
        time.flow(2, 0, 100, note(seen, time, "to it"));
        time.flow(2, 1, 100, note(seen, time, "of others"));
        time.flow(3, 0, 60, note(seen, time, "in time"));
        time.compute(0, 3, note(seen, time, "done"));
        time.compute(0, 11, note(seen, time, "work"));
        time.compute(1, 20, note(seen, time, "work of others"));
        time.at(12.5, [&] { time.flow(1, 0, 10, note(seen, time, "in its latency")); });
        time.at(13, [&] {
            time.turn_off(0);
            time.turn_off(0);
            EXPECT_FALSE(time.is_on(0));
            time.flow(0, 3, 10, note(seen, time, "asked later"));
            time.compute(0, 1, note(seen, time, "work asked later"));
        });
        time.at(30, [&] {
            time.turn_on(0);
            time.flow(0, 3, 10, note(seen, time, "on again"));
            time.compute(0, 2, note(seen, time, "work again"));
        });
        finish(time);
        // "to it" shares with "in time", 5 each: that one has its 60 at 1 + 12 s.
        EXPECT_THAT(
            seen, ElementsAre("done 3", "in time 13", "from it broken 13", "to it broken 13",
                              "work broken 13", "in its latency broken 13", "asked later broken 13",
                              "work asked later broken 13", "of others 17", "work of others 20",
                              "on again 32", "work again 32"));
    });
}

TEST_F(SimGridTimeTest, ADeviceDoesOneThingAfterTheOther) {
    expect(one_switch(1), 2, [](SimGridTime& time) {
        std::vector<std::string> seen;
        time.compute(0, 2, note(seen, time, "first"));
        const auto gone = time.compute(0, 3, note(seen, time, "cancelled"));
        time.compute(0, 1, note(seen, time, "third"));
        time.compute(1, 4, note(seen, time, "other device"));
        time.cancel(gone);
        time.at(10, [&] { time.compute(0, 0.5, note(seen, time, "idle before")); });
        finish(time);
        EXPECT_THAT(seen, ElementsAre("first 2", "other device 4", "third 6", "idle before 10.5"));
        EXPECT_THROW(time.compute(0, -1, {}), std::invalid_argument);
        EXPECT_THROW(time.compute(2, 1, {}), std::invalid_argument);
    });
}

}  // namespace
}  // namespace assay::drive
