// The table [network] of a cluster profile: reading, golden errors, writing.
#include "suite/scenario/network/network_shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "suite/scenario/network/topology.hpp"
#include "tests/scenario/profile_texts.hpp"

namespace assay {
namespace {

using testing::cluster_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::link_text;

/// A cluster's text has ten lines before these.
ClusterProfile read(const std::string& network) {
    return read_cluster_profile(cluster_text() + network, "c.toml");
}

std::string complaint(const std::string& network) {
    try {
        Topology(read(network)).require(4);
    } catch (const UserError& error) {
        return error.what();
    }
    return "accepted";
}

const std::string two_links = link_text("fabric", "100", "1") + link_text("spine", "5", "2");
const std::string four_nodes = two_links +
                               "[[network.node]]\nname = 'gpu'\ncount = 3\nranks = 2\n"
                               "inside = 'fabric'\n[[network.node]]\nname = 'old'\n";

TEST(NetworkShape, IsOptional) { EXPECT_EQ(read("").network, std::nullopt); }

TEST(NetworkShape, ReadsLinksNodesAndRacks) {
    const NetworkShape shape =
        *read(four_nodes +
              "[[network.rack]]\nname = 'a'\nnodes = ['gpu0..gpu1']\nuplink = 'spine'\n"
              "[[network.rack]]\nname = 'b'\nnodes = ['old', 'gpu2']\nuplink = 'fabric'\n")
             .network;
    ASSERT_EQ(shape.links.size(), 2U);
    EXPECT_EQ(shape.links[1].name, "spine");
    EXPECT_EQ(shape.links[1].bandwidth, (Sourced{5, "assumed", "a test"}));
    EXPECT_EQ(shape.links[1].latency_s.value, 2);
    ASSERT_EQ(shape.nodes.size(), 2U);
    EXPECT_THAT(node_names(shape.nodes[0]), ElementsAre("gpu0", "gpu1", "gpu2"));
    EXPECT_THAT(node_names(shape.nodes[1]), ElementsAre("old"));
    EXPECT_EQ(shape.nodes[0].ranks, 2);
    EXPECT_EQ(shape.nodes[0].inside, "fabric");
    EXPECT_EQ(shape.nodes[1].ranks, 1);
    ASSERT_EQ(shape.racks.size(), 2U);
    EXPECT_EQ(shape.racks[1].uplink, "fabric");
    EXPECT_EQ(shape.where, "c.toml:21:1");
}

TEST(NetworkShape, AnEntryOfARackIsANodeOrARangeOfThem) {
    EXPECT_THAT(nodes_meant("gpu", 9), ElementsAre("gpu"));
    EXPECT_THAT(nodes_meant("g1-7..g1-9", 9), ElementsAre("g1-7", "g1-8", "g1-9"));
    EXPECT_THAT(nodes_meant("g9..g10", 9), ElementsAre("g9", "g10"));
    EXPECT_THAT(nodes_meant("3..3", 9), ElementsAre("3"));
    for (const char* none : {"g3..g1", "g1..h2", "g..g2", "g1..g", "..", "g1..g10", "g1..g1x",
                             "g0..g99999999999999999999999"})
        EXPECT_THAT(nodes_meant(none, 9), ElementsAre()) << none;
}

TEST(NetworkShape, WrittenAndReadAgainIsTheSame) {
    const ClusterProfile cluster = read(
        "[network]\nrank_nodes = ['old', 'gpu1', 'gpu0', 'gpu1']\n" + four_nodes +
        "[[network.rack]]\nname = 'a'\nnodes = ['gpu0..gpu1', 'gpu2', 'old']\nuplink = 'spine'\n");
    const ClusterProfile again = read_cluster_profile(to_toml(cluster), "again.toml");
    EXPECT_EQ(again, cluster) << to_toml(cluster);
    EXPECT_EQ(to_json(again).dump(), to_json(cluster).dump());
    EXPECT_EQ(to_json(cluster)["network"]["links"]["spine"]["bandwidth"]["value"], 5);
    EXPECT_FALSE(to_json(read("")).contains("network")) << "older calibrations keep their hashes";
}

TEST(NetworkShape, GoldenErrors) {
    const auto link = [](const std::string& more) { return complaint(two_links + more); };
    const auto rack = [](const std::string& nodes, const std::string& before = "") {
        return complaint(four_nodes + before + "[[network.rack]]\nname = 'r'\nnodes = " + nodes +
                         "\nuplink = 'spine'\n");
    };
    const std::string node = "[[network.node]]\nname = 'n'\n";
    EXPECT_EQ(complaint("[network]\n"),
              "c.toml:11:1: network lacks nodes: write [[network.node]] with a name");
    EXPECT_EQ(complaint("network = 3\n"),
              "c.toml:11:11: cluster profile: 'network' must be a table, { key = value }");
    EXPECT_EQ(link(node + "ranks = 2\ninside = 'nvlink'\n"),
              "c.toml:24:10: [[node]]: 'inside' leads nowhere: no [[network.link]] is named "
              "'nvlink'; there are: fabric, spine");
    EXPECT_EQ(complaint(node + "outside = 'ib'\n"),
              "c.toml:13:11: [[node]]: 'outside' leads nowhere: no [[network.link]] is named 'ib'");
    EXPECT_EQ(link(node + "ranks = 2\n"), "c.toml:21:1: [[node]] lacks 'inside'");
    EXPECT_EQ(link(node + "inside = 'fabric'\n"),
              "c.toml:23:10: [[node]]: 'inside' is a link between the ranks of a node, and this "
              "one has one");
    EXPECT_EQ(link(node + "ranks = 2\ninside = 'fabric'\nnics = 3\n"),
              "c.toml:25:8: [[node]]: 'nics' must be a whole number from 1 to 2");
    EXPECT_EQ(link(node + "ranks = 0\n"),
              "c.toml:23:9: [[node]]: 'ranks' must be a whole number from 1 to 1024");
    EXPECT_EQ(link(node + "count = 9000000\n"),
              "c.toml:23:9: [[node]]: 'count' must be a whole number from 1 to 16384");
    EXPECT_EQ(link(node + node), "c.toml:24:8: [[node]]: 'name' makes a second node 'n'");
    EXPECT_EQ(link("[[network.node]]\nname = 'n1'\n" + node + "count = 2\n"),
              "c.toml:24:8: [[node]]: 'name' makes a second node 'n1'");
    EXPECT_EQ(link("[[network.node]]\nname = 'N'\n"),
              "c.toml:22:8: [[node]]: 'name' may hold a to z, 0 to 9, '-' and '_' only");
    EXPECT_EQ(link(node + "colour = 'red'\n"),
              "c.toml:23:10: [[node]]: 'colour' is not a known key; known are: count, inside, "
              "name, nics, outside, ranks");
    EXPECT_EQ(complaint(link_text("a", "0", "1") + node),
              "c.toml:13:23: bandwidth: 'value' must be above 0");
    EXPECT_EQ(complaint(link_text("a", "1", "-1") + node),
              "c.toml:15:23: latency_s: 'value' must be at least 0");
    EXPECT_EQ(complaint(link_text("a", "1", "1") + link_text("a", "1", "1") + node),
              "c.toml:17:8: [[link]]: 'name' is 'a', as that of a link before");
    EXPECT_EQ(complaint("[[network.link]]\nname = 'a'\n" + node),
              "c.toml:11:1: [[link]] lacks 'bandwidth': write bandwidth = { value = …, kind = …, "
              "source = … }");

    EXPECT_EQ(rack("['gpu7']"),
              "c.toml:30:9: [[rack]]: 'nodes' holds 'gpu7', and there is no such node");
    EXPECT_EQ(rack("['gpu0..gpu4']"),
              "c.toml:30:9: [[rack]]: 'nodes' holds 'gpu0..gpu4', which is more nodes than there "
              "are, or no range: write gpu0..gpu7");
    EXPECT_EQ(rack("[]"), "c.toml:30:9: [[rack]]: 'nodes' must name at least one node");
    EXPECT_EQ(rack("['old', 'old']"),
              "c.toml:30:9: [[rack]]: 'nodes' holds 'old', which is in rack 'r' already");
    EXPECT_EQ(rack("['gpu0..gpu2']",
                   "[[network.rack]]\nname = 'q'\nnodes = ['gpu1']\nuplink = 'spine'\n"),
              "c.toml:34:9: [[rack]]: 'nodes' holds 'gpu1', which is in rack 'q' already");
    EXPECT_THAT(rack("['gpu0..gpu2']"), HasSubstr("node 'old' is in no rack"));
    EXPECT_EQ(rack("['old']", "[[network.rack]]\nname = 'r'\nnodes = ['gpu0']\nuplink = 'spine'\n"),
              "c.toml:33:8: [[rack]]: 'name' is 'r', as that of a rack before");
    EXPECT_EQ(complaint(four_nodes + "[[network.rack]]\nname = 'r'\nnodes = ['old']\nuplink = 'x'"),
              "c.toml:31:10: [[rack]]: 'uplink' leads nowhere: no [[network.link]] is named 'x'; "
              "there are: fabric, spine");

    EXPECT_EQ(complaint("[network]\nrank_nodes = ['n', 'm']\n" + node),
              "c.toml:12:14: network: 'rank_nodes' puts rank 1 on 'm', and there is no such node");
    EXPECT_EQ(complaint("[network]\nrank_nodes = ['n', 'n']\n" + node),
              "c.toml:12:14: network: 'rank_nodes' puts rank 1 on 'n', whose ranks are all taken");
    EXPECT_EQ(link(node + "count = 16384\nranks = 65\ninside = 'fabric'\n"),
              "c.toml:22:8: [[node]]: 'name' makes more than 1048576 ranks");
    EXPECT_EQ(complaint(node),
              "c.toml:11:1: cluster profile 'c': 4 ranks are asked for, and its network has room "
              "for 1: add nodes to it, or ask for fewer");
}

}  // namespace
}  // namespace assay
