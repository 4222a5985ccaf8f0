// Transfers in virtual time beside the same ones as SimGrid simulates them.
#include "suite/drive/simulated/virtual_transfers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "suite/drive/simgrid/simgrid_time.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "tests/drive/simgrid/own_process.hpp"
#include "tests/drive/simgrid/small_networks.hpp"

namespace assay::drive {
namespace {

struct Asked {
    WorkerId from, to;
    double begun_s, bytes;
    double stopped_s;  ///< infinity: it arrives
};
struct Scenario {
    std::vector<double> bandwidths, latencies_s;  ///< of each worker's port
    std::vector<Asked> asked;
};

Scenario random_scenario(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> bandwidth(1e8, 1e9), latency(0, 0.5), moment(0, 10),
        size(1e6, 5e9);
    Scenario scenario;
    const int workers = 3 + static_cast<int>(random() % 8);
    for (int i = 0; i < workers; ++i) {
        scenario.bandwidths.push_back(bandwidth(random));
        scenario.latencies_s.push_back(latency(random));
    }
    for (int i = 0; i < 60; ++i) {
        const int from = static_cast<int>(random() % scenario.bandwidths.size());
        const int other = 1 + static_cast<int>(random() % (scenario.bandwidths.size() - 1));
        Asked transfer = {.from = from,
                          .to = (from + other) % workers,
                          .begun_s = moment(random),
                          .bytes = std::round(size(random)),
                          .stopped_s = std::numeric_limits<double>::infinity()};
        if (random() % 5 == 0) transfer.stopped_s = transfer.begun_s + moment(random);
        scenario.asked.push_back(transfer);
    }
    return scenario;
}

/// A node of its own for each worker, with a link of its own to the switch of all.
ClusterProfile cluster_of(const Scenario& scenario) {
    ClusterProfile cluster = testing::one_switch(1);
    cluster.network = NetworkShape{};
    for (std::size_t i = 0; i < scenario.bandwidths.size(); ++i) {
        const std::string port = fmt::format("port{}", i);
        // A route has half the latency of each port.
        cluster.network->links.push_back(
            testing::link(port, scenario.bandwidths[i], 2 * scenario.latencies_s[i]));
        NodeKind node;
        node.name = fmt::format("worker{}", i);
        node.outside = port;
        cluster.network->nodes.push_back(node);
    }
    return cluster;
}

/// When each arrives; -1: it does not.
std::vector<double> ends_on_simgrid(const Scenario& scenario) {
    const int workers = static_cast<int>(scenario.bandwidths.size());
    SimGridTime time(std::make_shared<RankFlows>(Topology(cluster_of(scenario)), workers));
    std::vector<double> ends_s(scenario.asked.size(), -1);
    std::vector<VirtualTime::Id> flows(scenario.asked.size());
    for (std::size_t i = 0; i < scenario.asked.size(); ++i) {
        const Asked& asked = scenario.asked[i];
        time.at(asked.begun_s, [&, i] {
            flows[i] = time.flow(asked.from, asked.to, asked.bytes,
                                 [&, i](SimGridTime::End) { ends_s[i] = time.now(); });
        });
        if (std::isfinite(asked.stopped_s))
            time.at(asked.stopped_s, [&, i] { time.cancel(flows[i]); });
    }
    while (time.next()) {
    }
    return ends_s;
}

std::vector<double> ends_of_transfers(const Scenario& scenario) {
    EventQueue time;
    VirtualTransfers transfers(time);
    for (std::size_t i = 0; i < scenario.bandwidths.size(); ++i)
        transfers.set_nic(static_cast<WorkerId>(i), {.send_bytes_s = scenario.bandwidths[i],
                                                     .receive_bytes_s = scenario.bandwidths[i],
                                                     .latency_s = scenario.latencies_s[i]});
    std::vector<double> ends_s(scenario.asked.size(), -1);
    for (std::size_t i = 0; i < scenario.asked.size(); ++i) {
        const Asked& asked = scenario.asked[i];
        time.at(asked.begun_s, [&, i] {
            transfers.begin(i, asked.from, asked.to, asked.bytes,
                            [&, i] { ends_s[i] = time.now(); });
        });
        if (std::isfinite(asked.stopped_s)) time.at(asked.stopped_s, [&, i] { transfers.stop(i); });
    }
    while (time.next()) {
    }
    return ends_s;
}

TEST(VirtualTransfersBesideSimGrid, RandomOnesArriveAtTheSameTime) {
    if (const auto reason = flow_engine_lacks()) GTEST_SKIP() << *reason;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Scenario scenario = random_scenario(seed);
        const auto expected_s = testing::in_own_process([&] { return ends_on_simgrid(scenario); });
        const auto ends_s = ends_of_transfers(scenario);
        ASSERT_EQ(ends_s.size(), expected_s.size());
        for (std::size_t i = 0; i < ends_s.size(); ++i) {
            const double took_s = expected_s[i] - scenario.asked[i].begun_s;
            EXPECT_NEAR(ends_s[i], expected_s[i], 1e-6 * std::abs(took_s))
                << "seed " << seed << ", transfer " << i;
        }
    }
}

}  // namespace
}  // namespace assay::drive
