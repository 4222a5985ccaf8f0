// Routes over a topology, rings, and collectives in closed form: values worked out by hand, the
// formulas of one rank per node bit for bit, and what must hold whatever the numbers.
#include "suite/scenario/network/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "suite/scenario/cost_model.hpp"
#include "suite/scenario/network/rings.hpp"
#include "tests/scenario/profile_texts.hpp"

namespace assay {
namespace {

using testing::cluster_text;
using ::testing::ElementsAre;
using testing::link_text;
using testing::sourced;

/// The file's own link reaches 10 bytes/s with 3 s of latency.
Topology topology(const std::string& network = "") {
    return Topology(read_cluster_profile(cluster_text() + network, "c.toml"));
}

/// Two racks of two nodes with two ranks each: 0 1 | 2 3 || 4 5 | 6 7. Inside 100 bytes/s and 1 s;
/// between racks 8 bytes/s and 2 s.
std::string racks(const std::string& node = "") {
    return link_text("fabric", "100", "1") + link_text("spine", "8", "2") +
           "[[network.node]]\nname = 'n'\ncount = 4\nranks = 2\ninside = 'fabric'\n" + node +
           "[[network.rack]]\nname = 'a'\nnodes = ['n0..n1']\nuplink = 'spine'\n"
           "[[network.rack]]\nname = 'b'\nnodes = ['n2..n3']\nuplink = 'spine'\n";
}

std::vector<int> numbers(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<std::string> names(const Topology& topology, const std::array<int, 2>& ports,
                               int hops) {
    std::vector<std::string> names;
    for (int i = 0; i < hops; ++i)
        names.push_back(topology.port(ports[static_cast<std::size_t>(i)]).name);
    return names;
}

TEST(Topology, RoutesPassThePortsBetween) {
    const Topology here = topology(racks());
    EXPECT_EQ(here.ranks(), 8);
    const auto up = [&](int from, int to) {
        const auto route = here.route(from, to);
        return names(here, route.up, route.hops);
    };
    const auto down = [&](int from, int to) {
        const auto route = here.route(from, to);
        return names(here, route.down, route.hops);
    };
    EXPECT_THAT(up(2, 3), ElementsAre("n1/rank0"));
    EXPECT_THAT(down(2, 3), ElementsAre("n1/rank1"));
    EXPECT_THAT(up(1, 2), ElementsAre("n0"));
    EXPECT_THAT(down(1, 2), ElementsAre("n1"));
    EXPECT_THAT(up(1, 7), ElementsAre("n0", "a"));
    EXPECT_THAT(down(1, 7), ElementsAre("n3", "b"));
    EXPECT_THAT(up(4, 4), ElementsAre());
    EXPECT_EQ(here.route(2, 3).latency_s, 1);
    EXPECT_EQ(here.route(1, 2).latency_s, 3);
    EXPECT_EQ(here.route(1, 7).latency_s, 3 + 2);
}

TEST(Topology, RanksShareTheInterfacesOfTheirNodeInBlocks) {
    const Topology here =
        topology(link_text("fabric", "100", "1") +
                 "[[network.node]]\nname = 'n'\nranks = 5\nnics = 2\ninside = 'fabric'\n");
    std::vector<std::string> nics;
    for (int rank = 0; rank < 5; ++rank) nics.push_back(here.port(here.place(rank).nic).name);
    EXPECT_THAT(nics, ElementsAre("n/nic0", "n/nic0", "n/nic0", "n/nic1", "n/nic1"));
}

TEST(Topology, RanksAreWhereTheFilePutsThem) {
    const Topology here =
        topology("[network]\nrank_nodes = ['b', 'a', 'b']\n" + link_text("fabric", "9", "0") +
                 "[[network.node]]\nname = 'a'\nranks = 2\ninside = 'fabric'\n"
                 "[[network.node]]\nname = 'b'\nranks = 2\ninside = 'fabric'\n");
    EXPECT_EQ(here.ranks(), 3);
    EXPECT_EQ(here.place(0).node, here.place(2).node);
    EXPECT_NE(here.place(0).node, here.place(1).node);
    EXPECT_NE(here.place(0).inside, here.place(2).inside);
}

TEST(Topology, WithoutATableThereAreAsManyNodesAsWanted) {
    const Topology here = topology();
    EXPECT_NO_THROW(here.require(1'000'000));
    EXPECT_EQ(here.port(here.route(7, 99).up[0]).bandwidth, 10);
    EXPECT_EQ(here.route(7, 99).latency_s, 3);
    EXPECT_THROW(topology(racks()).require(9), UserError);
    EXPECT_NO_THROW(topology(racks()).require(8));
}

TEST(Topology, AmongSomeRanksIsTheirPartOfIt) {
    const Topology all = topology(racks());
    const std::vector<int> left = {6, 0, 1};
    const Topology here = all.among(left);
    EXPECT_EQ(here.ranks(), 3);
    for (int from = 0; from < 3; ++from)
        for (int to = 0; to < 3; ++to) {
            const auto part = here.route(from, to);
            const auto whole =
                all.route(left[static_cast<std::size_t>(from)], left[static_cast<std::size_t>(to)]);
            EXPECT_EQ(names(here, part.up, part.hops), names(all, whole.up, whole.hops));
            EXPECT_EQ(part.latency_s, whole.latency_s);
        }
    EXPECT_THROW(all.among({}), std::invalid_argument);
    EXPECT_THROW(all.among(std::vector<int>{1, 1}), std::invalid_argument);
    EXPECT_THROW(all.among(std::vector<int>{-1}), std::invalid_argument);
    EXPECT_THROW(all.among(std::vector<int>{8}), UserError);
}

TEST(Topology, ShippedServersHaveAnInterfacePerDevice) {
    const ClusterProfile profile = cluster_profile("lazarus-simulation");
    const Topology here(profile);
    EXPECT_EQ(here.ranks(), 1024);
    EXPECT_EQ(here.port(here.route(0, 7).up[0]).bandwidth, 450e9 * 0.8);
    EXPECT_EQ(here.port(here.route(0, 8).up[0]).bandwidth, 50e9 * 0.8);
    EXPECT_EQ(rings(here, numbers(1024)).size(), 8U);
}

TEST(Rings, GoNodeByNodeAndRackByRack) {
    const Topology here = topology(racks());
    EXPECT_THAT(rings(here, std::vector<int>{0, 7, 2, 4, 1, 6, 3, 5}),
                ElementsAre(ElementsAre(0, 1, 2, 3, 7, 6, 4, 5)));
    EXPECT_THAT(rings(topology(), std::vector<int>{4, 1, 3}), ElementsAre(ElementsAre(4, 1, 3)));
    EXPECT_THAT(rings(here, std::vector<int>{3}), ElementsAre(ElementsAre(3)));
    EXPECT_THAT(rings(here, {}), ElementsAre(ElementsAre()));
}

TEST(Rings, ThereIsOnePerInterfaceThatEveryNodeHas) {
    const Topology here = topology(racks("nics = 2\n"));
    EXPECT_THAT(rings(here, std::vector<int>{0, 1, 2, 3}),
                ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(1, 0, 3, 2)));
    EXPECT_THAT(rings(here, std::vector<int>{0, 1, 3}), ElementsAre(ElementsAre(0, 1, 3)))
        << "the second node takes part with one interface";
    EXPECT_THAT(rings(here, std::vector<int>{0, 1}), ElementsAre(ElementsAre(0, 1)))
        << "no interface is used within a node";
}

TEST(ClosedForm, OfOneRankPerNodeIsTheFormulaBitForBit) {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> amount(0, 1e9);
    for (int round = 0; round < 100; ++round) {
        const double bandwidth = amount(random), share = 0.7, latency = amount(random) * 1e-13;
        ClusterProfile cluster = read_cluster_profile(cluster_text(), "c.toml");
        cluster.link_bandwidth.value = bandwidth;
        cluster.link_efficiency.value = share;
        cluster.link_latency_s.value = latency;
        const ClosedForm network{Topology(cluster)};
        const double reached = bandwidth * share;
        const int ranks = 1 + static_cast<int>(random() % 20);
        const auto n = static_cast<std::size_t>(ranks);

        std::vector<double> bytes(n * n);
        for (double& one : bytes) one = amount(random);
        double busiest = 0;
        for (std::size_t rank = 0; rank < n; ++rank) {
            double sent = 0, received = 0;
            for (std::size_t other = 0; other < n; ++other) {
                if (other == rank) continue;
                sent += bytes[rank * n + other];
                received += bytes[other * n + rank];
            }
            busiest = std::max({busiest, sent, received});
        }
        EXPECT_EQ(network.all_to_all(bytes, ranks), busiest / reached + (ranks - 1) * latency);

        const double size = amount(random);
        EXPECT_EQ(network.all_reduce(size, ranks),
                  2.0 * (ranks - 1) / ranks * size / reached + 2 * (ranks - 1) * latency);
        EXPECT_EQ(network.all_gather(size, ranks), (ranks - 1) * (size / reached + latency));

        std::vector<std::vector<int>> groups(5);
        std::vector<double> sizes, volumes(n, 0);
        std::vector<int> messages(n, 0);
        for (auto& group : groups) {
            sizes.push_back(amount(random));
            for (int rank = 0; rank < ranks; ++rank)
                if (random() % 2) group.push_back(rank);
            const int members = static_cast<int>(group.size());
            for (const int rank : group) {
                const auto r = static_cast<std::size_t>(rank);
                volumes[r] += 2.0 * (members - 1) / members * sizes.back();
                messages[r] = std::max(messages[r], 2 * (members - 1));
            }
        }
        double slowest = 0;
        for (std::size_t rank = 0; rank < n; ++rank)
            slowest = std::max(slowest, volumes[rank] / reached + messages[rank] * latency);
        EXPECT_EQ(network.grouped_all_reduce(sizes, groups, ranks), slowest);
    }
}

TEST(ClosedForm, TheBusiestPortMayBeAnInterfaceARackOrInsideANode) {
    const ClosedForm network(topology(racks()));
    const auto all_to_all = [&](int from, int to, double bytes, double others) {
        std::vector<double> matrix(64, others);
        for (int rank = 0; rank < 8; ++rank) matrix[static_cast<std::size_t>(rank * 9)] = 0;
        matrix[static_cast<std::size_t>(from * 8 + to)] = bytes;
        return network.all_to_all(matrix, 8);
    };
    // A rank's messages: one inside, two within the rack, four to the other rack.
    const double latencies = 1 + 2 * 3 + 4 * 5;
    EXPECT_DOUBLE_EQ(all_to_all(0, 1, 1000, 0), 1000.0 / 100 + latencies);
    EXPECT_DOUBLE_EQ(all_to_all(0, 2, 1000, 0), 1000.0 / 10 + latencies);
    EXPECT_DOUBLE_EQ(all_to_all(0, 7, 1000, 0), 1000.0 / 8 + latencies);
    // A byte from each to each: 2 × 6 leave a node, 4 × 4 a rack.
    EXPECT_DOUBLE_EQ(all_to_all(0, 1, 1, 1), std::max(12.0 / 10, 16.0 / 8) + latencies);
}

TEST(ClosedForm, RingsAreAsFastAsTheirSlowestPort) {
    const ClosedForm network(topology(racks()));
    // One ring of eight ranks crosses the uplinks once each way.
    EXPECT_DOUBLE_EQ(network.all_reduce(80, 8), 2 * 7.0 / 8 * 80 / 8 + 14 * 5);
    EXPECT_DOUBLE_EQ(network.all_gather(80, 8), 7 * (80.0 / 8 + 5));
    // The first four are within a rack, the first two within a node.
    EXPECT_DOUBLE_EQ(network.all_reduce(80, 4), 2 * 3.0 / 4 * 80 / 10 + 6 * 3);
    EXPECT_DOUBLE_EQ(network.all_reduce(80, 2), 80.0 / 100 + 2 * 1);
    // With an interface per rank two rings carry half of it each; the uplinks carry both.
    const ClosedForm two(topology(racks("nics = 2\n")));
    EXPECT_DOUBLE_EQ(two.all_reduce(80, 4), 2 * 3.0 / 4 * 40 / 10 + 6 * 3);
    EXPECT_DOUBLE_EQ(two.all_reduce(80, 8), 2 * 7.0 / 8 * 80 / 8 + 14 * 5);
    EXPECT_DOUBLE_EQ(two.all_reduce(80, 1), 0);
}

TEST(ClosedForm, GroupsShareThePortsOfTheirRings) {
    const ClosedForm network(topology(racks()));
    const std::vector<std::vector<int>> groups = {{0, 2}, {1, 3}, {4, 5}};
    // Both pairs leave node 0 by its one interface.
    EXPECT_DOUBLE_EQ(network.grouped_all_reduce(std::vector<double>{100, 60, 1}, groups, 8),
                     160.0 / 10 + 2 * 3);
    EXPECT_THROW(network.grouped_all_reduce(std::vector<double>{1}, groups, 8),
                 std::invalid_argument);
    EXPECT_THROW(network.all_reduce(1, 9), UserError);
    EXPECT_THROW(network.all_gather(1, 9), UserError);
    EXPECT_THROW(network.all_to_all(std::vector<double>(81), 9), UserError);
}

TEST(ClosedForm, AmongSurvivorsIsTheNetworkOfTheirPlaces) {
    const ClosedForm network(topology(racks()));
    const auto left = network.among(std::vector<int>{0, 6, 7});
    EXPECT_DOUBLE_EQ(left->all_reduce(60, 3), 2 * 2.0 / 3 * 60 / 8 + 4 * 5);
    EXPECT_THROW(left->all_reduce(60, 4), UserError);
    EXPECT_EQ(ClosedForm(topology()).among(std::vector<int>{5, 3})->all_reduce(60, 2),
              ClosedForm(topology()).all_reduce(60, 2));
}

TEST(ClosedForm, ASlowerPortOrAWorsePlaceNeverHelps) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> amount(0, 1000);
    const auto with_spine = [&](double bandwidth) {
        std::string text = racks();
        return ClosedForm(topology(
            text.replace(text.find("value = 8"), 9, "value = " + std::to_string(bandwidth))));
    };
    for (int round = 0; round < 50; ++round) {
        std::vector<double> bytes(64);
        for (double& one : bytes) one = amount(random);
        const double slower = 1 + amount(random), faster = slower + amount(random);
        EXPECT_GE(with_spine(slower).all_to_all(bytes, 8), with_spine(faster).all_to_all(bytes, 8));
        EXPECT_GE(with_spine(slower).all_reduce(9, 8), with_spine(faster).all_reduce(9, 8));
        // Renaming ranks within their nodes changes nothing.
        const auto swapped = with_spine(slower).among(std::vector<int>{1, 0, 3, 2, 5, 4, 7, 6});
        std::vector<double> renamed(64);
        for (std::size_t i = 0; i < 64; ++i) renamed[(i / 8 ^ 1) * 8 + (i % 8 ^ 1)] = bytes[i];
        EXPECT_NEAR(swapped->all_to_all(renamed, 8), with_spine(slower).all_to_all(bytes, 8), 1e-9);
    }
}

TEST(CostModelNetwork, TakesTheOneItIsGiven) {
    const ClusterProfile cluster = cluster_profile("lazarus-simulation");
    const CostModel own(cluster);
    EXPECT_EQ(own.all_reduce(1e9, 1024), ClosedForm(Topology(cluster)).all_reduce(1e9, 1024));
    const auto eight = std::make_shared<ClosedForm>(Topology(cluster).among(numbers(8)));
    EXPECT_EQ(CostModel(cluster, eight).all_reduce(1e9, 8), eight->all_reduce(1e9, 8));
    EXPECT_THROW(CostModel(cluster, eight).all_reduce(1e9, 9), UserError);
}

// What an all-to-all adds up to on each rank is all that the closed form needs of it.
TEST(ClosedForm, TotalsOfRanksArePricedLikeTheTableOfPairs) {
    std::mt19937_64 random(17);
    for (const std::string& network : {std::string(), racks(), racks("nics = 2\n")}) {
        const ClosedForm all{topology(network)};
        for (int trial = 0; trial < 60; ++trial) {
            std::vector<int> some = numbers(8);
            std::shuffle(some.begin(), some.end(), random);
            some.resize(1 + random() % 8);
            const auto here = all.among(some);
            const int ranks = static_cast<int>(some.size());
            std::vector<double> bytes;
            for (int i = 0; i < ranks * ranks; ++i)
                bytes.push_back(static_cast<double>(random() % 1000));
            Exchange exchange{traffic_of(bytes, here->topology().sites(ranks)),
                              [&] { return bytes; }};
            const double wanted = here->all_to_all(bytes, ranks);
            EXPECT_NEAR(here->all_to_all(exchange), wanted, 1e-9 * wanted);
            // There and back pass the same ports the other way.
            EXPECT_NEAR(here->all_to_all(reversed(exchange)), wanted, 1e-9 * wanted);
            EXPECT_NEAR(here->all_to_all(reversed(exchange).pairs(), ranks), wanted, 1e-9 * wanted);
        }
    }
}

}  // namespace
}  // namespace assay
