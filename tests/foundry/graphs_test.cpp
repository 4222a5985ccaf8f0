// Graphs as lines of JSON, their topology keys, templates and differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <tuple>

#include "impls/foundry/method/graphs/decode_family.hpp"
#include "impls/foundry/method/graphs/graph_lines.hpp"
#include "impls/foundry/method/graphs/grouping.hpp"
#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

Graph kernels_in_a_row(std::int64_t batch, std::size_t count) {
    Graph graph{.batch = batch};
    for (std::uint32_t i = 0; i < count; ++i) {
        graph.nodes.push_back({.type = NodeType::kernel, .launch = {.image = "i", .name = "k"}});
        if (i > 0) graph.edges.push_back({.from = i - 1, .to = i});
    }
    return graph;
}

std::string refusal(const std::string& text) {
    std::istringstream in(text);
    try {
        read_graphs(in, "graphs");
    } catch (const UserError& error) {
        return error.what();
    }
    return "accepted";
}

const std::string one_kernel =
    R"({"type":"kernel","image":"aa","name":"k","grid":[1,1,1],"block":[1,1,1],"smem":0,"params":"00"})";

std::string with_edges(const std::string& edges) {
    return R"({"batch":1,"nodes":[{"type":"empty"},)" + one_kernel + "," + one_kernel +
           R"(],"edges":)" + edges + "}\n";
}

TEST(FoundryGraphLines, WhatIsWrittenIsReadAgain) {
    DecodeFamily family{
        .layers = 2, .rules = {{Change::programmatic, 2}, {Change::cluster, 3}, {Change::rows, 4}}};
    std::vector<Graph> graphs = family.graphs(5);
    graphs[0].nodes[1].launch.attributes.emplace_back("priority", Integer::of(std::int64_t{-3}));
    graphs[0].nodes[0].fields[0].second = Integer::of(std::uint64_t{0xffff'ffff'ffff'fff0});
    std::stringstream text;
    for (const Graph& graph : graphs) text << to_line(graph) << "\n\n";
    EXPECT_EQ(read_graphs(text, "graphs"), graphs);
}

TEST(FoundryGraphLines, DefaultsMayBeLeftOut) {
    std::istringstream in(with_edges("[[1,2,0,0,0],[0,1]]"));
    const Graph graph = read_graphs(in, "graphs").front();
    EXPECT_EQ(graph.edges, (std::vector<Edge>{{.from = 0, .to = 1}, {.from = 1, .to = 2}}));
    EXPECT_TRUE(graph.nodes[0].fields.empty());
    EXPECT_EQ(cluster(graph.nodes[1].launch), (Extent{1, 1, 1}));
}

TEST(FoundryGraphLines, WhatIsNoGraphIsRefusedWithItsLine) {
    const auto says = [](const std::string& text, const std::string& words) {
        EXPECT_NE(refusal(text).find(words), std::string::npos) << refusal(text);
    };
    says("\n" + with_edges("[[1,3]]"), "graphs:2: edges[0]: give a whole number from 0 to 2");
    says(with_edges("[[1,1]]"), "graphs:1: edges[0]: node 1 depends on itself");
    says(with_edges("[[1,2,1]]"), "edges[0]: give [from, to] or");
    says(with_edges("[[0,1,1,0,1]]"), "only kernels have programmatic edges");
    says(with_edges("[[1,2],[1,2,1,0,1]]"), "the one from 1 to 2 stands twice");
    says(with_edges("[[1,2],[2,1]]"), "a cycle; node 1 can never begin");
    says(with_edges("[]") + with_edges("[]"), "graphs:2: batch 1 has a graph already, in line 1");
    says(R"({"batch":1,"nodes":[{"type":"host"}]})", "a node of type 'host' cannot be built again");
    says(R"({"batch":1,"nodes":[{"type":"memset","fields":{"dst":1.5}}]})", "fields.dst: give");
    says(R"({"batch":1,"nodes":[{"type":"memset","feilds":{}}]})", "feilds is not known");
    says(R"({"nodes":[]})", "batch is missing");
    says(R"({"batch":0,"nodes":[]})", "batch: give a whole number from 1");
    says("{\"batch\":1,", "graphs:1: column");
    says("", "graphs:1: there is no graph");
    says("\n\n", "there is no graph");
    const auto kernel_with = [](const std::string& from, const std::string& to) {
        std::string kernel = one_kernel;
        kernel.replace(kernel.find(from), from.size(), to);
        return R"({"batch":1,"nodes":[)" + kernel + "]}";
    };
    says(kernel_with(R"("00")", R"("000")"), "nodes[0].params: 3 hexadecimal digits");
    says(kernel_with(R"("00")", R"("0g")"), "'g' is no hexadecimal digit");
    says(kernel_with(R"("grid":[1,1,1])", R"("grid":[1,1])"), "nodes[0].grid: give [x, y, z]");
    says(kernel_with(R"("smem":0)", R"("smem":-1)"), "nodes[0].smem: give a whole number");
    says(kernel_with(R"("smem":0)", R"("smem":0,"attrs":{"cluster":[0,1,1]})"), "attrs.cluster");
}

TEST(FoundryTopologyKey, SeesWhatItIsSaidToSee) {
    const auto differ = [](const Graph& a, const Graph& b, Key key) {
        return topology_key(a, key) != topology_key(b, key);
    };
    for (const auto& [change, word] : names_of(Change())) {
        const DecodeFamily family{.layers = 2, .rules = {{change, 2}}};
        // Programmatic edges and all else of the same batch, so that nothing else differs.
        const Graph before = DecodeFamily{.layers = 2}.graph(2), after = family.graph(2);
        EXPECT_NE(before, after) << word;
        for (const Key key : {Key::paper, Key::strong})
            EXPECT_EQ(differ(before, after, key), seen_by(key, change)) << word << to_string(key);
    }
    // An explicit cluster of one block is the default; a number is no list of it.
    Graph plain = kernels_in_a_row(1, 2), one = plain, number = plain, list = plain;
    const Integer two = Integer::of(std::int64_t{2}), unit = Integer::of(std::int64_t{1});
    one.nodes[0].launch.attributes = {{"cluster", std::vector{unit, unit, unit}}};
    EXPECT_FALSE(differ(plain, one, Key::strong));
    number.nodes[0].launch.attributes = {{"carveout", two}};
    list.nodes[0].launch.attributes = {{"carveout", std::vector{two}}};
    EXPECT_TRUE(differ(number, list, Key::strong));
    // The order in which edges were given counts for nothing.
    Graph turned = kernels_in_a_row(1, 4);
    std::ranges::reverse(turned.edges);
    EXPECT_FALSE(differ(kernels_in_a_row(1, 4), turned, Key::strong));
}

TEST(FoundryGrouping, FamiliesHaveTheGroupsThatTheirRulesMake) {
    std::mt19937 random(1);
    for (int round = 0; round < 40; ++round) {
        DecodeFamily family{.layers = 1 + round % 3};
        for (int rules = static_cast<int>(random() % 6); rules > 0; --rules)
            family.rules.push_back(
                {static_cast<Change>(random() % 8), 1 + static_cast<std::int64_t>(random() % 30)});
        const auto graphs = family.graphs(24);
        for (const Key key : {Key::paper, Key::strong}) {
            const Grouping found = group(graphs, key, TemplateChoice::first);
            EXPECT_EQ(std::ssize(found.templates), family.groups(24, key));
            EXPECT_EQ(found.templates.size() + found.members.size(), graphs.size());
            EXPECT_EQ(found.mixed == 0 || key == Key::paper, true);
        }
    }
}

/// Types and clusters, or all that an update leaves as it is, compared one by one.
bool alike(const Graph& a, const Graph& b, Key key) {
    if (a.nodes.size() != b.nodes.size()) return false;
    for (std::size_t i = 0; i < a.nodes.size(); ++i) {
        const Node &x = a.nodes[i], &y = b.nodes[i];
        if (x.type != y.type || cluster(x.launch) != cluster(y.launch)) return false;
        if (key == Key::paper) continue;
        const auto others = [](const Attributes& given) {
            std::map<std::string, Attribute> all(given.begin(), given.end());
            all.erase("cluster");
            return all;
        };
        const auto tall = [](const Node& node) { return field(node.fields, "height").bits > 1; };
        if (others(x.launch.attributes) != others(y.launch.attributes) || tall(x) != tall(y))
            return false;
    }
    return key == Key::paper ||
           std::is_permutation(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end());
}

TEST(FoundryGrouping, IsThatOfComparingEachPair) {
    std::mt19937 random(2);
    for (int round = 0; round < 60; ++round) {
        std::vector<Graph> graphs;
        for (int i = 0; i < 12; ++i) {
            Graph graph = kernels_in_a_row(100 * i + static_cast<int>(random() % 100), 3);
            graph.nodes[random() % 3].type = random() % 3 == 0 ? NodeType::empty : NodeType::kernel;
            if (random() % 3 == 0) graph.edges.pop_back();
            const Integer value = Integer::of(std::int64_t{1} + static_cast<int>(random() % 2));
            const std::string name = random() % 2 == 0 ? "cluster" : "priority";
            if (graph.nodes[0].type == NodeType::kernel && random() % 2 == 0)
                graph.nodes[0].launch.attributes = {{name, value}};
            if (random() % 2 == 0) graph.nodes[2].fields = {{"height", value}};
            graphs.push_back(std::move(graph));
        }
        for (const Key key : {Key::paper, Key::strong})
            for (const auto choice : {TemplateChoice::first, TemplateChoice::largest}) {
                std::vector<std::vector<std::size_t>> groups;
                for (std::size_t i = 0; i < graphs.size(); ++i) {
                    const auto of = std::ranges::find_if(groups, [&](const auto& group) {
                        return alike(graphs[group.front()], graphs[i], key);
                    });
                    if (of == groups.end())
                        groups.push_back({i});
                    else
                        of->push_back(i);
                }
                std::map<std::size_t, std::size_t> template_of;
                std::vector<std::size_t> templates;
                for (const auto& members : groups) {
                    const std::size_t chosen =
                        choice == TemplateChoice::first
                            ? members.front()
                            : std::ranges::max(members, {},
                                               [&](std::size_t i) { return graphs[i].batch; });
                    templates.push_back(chosen);
                    for (const std::size_t i : members)
                        if (i != chosen) template_of[i] = chosen;
                }
                const Grouping found = group(graphs, key, choice);
                EXPECT_EQ(found.templates, templates);
                std::map<std::size_t, std::size_t> found_of;
                std::int64_t mixed = 0;
                for (const Member& member : found.members) {
                    found_of[member.graph] = member.of;
                    mixed += !alike(graphs[member.graph], graphs[member.of], Key::strong);
                }
                EXPECT_EQ(found_of, template_of);
                EXPECT_EQ(found.mixed, mixed);
            }
    }
}

std::vector<std::byte> bytes(std::initializer_list<int> values) {
    std::vector<std::byte> result;
    for (const int value : values) result.push_back(static_cast<std::byte>(value));
    return result;
}

TEST(FoundryDifferences, CountNodesAndWords) {
    Graph from = kernels_in_a_row(1, 3), to = kernels_in_a_row(2, 3);
    EXPECT_EQ(differences(from, to), (Differences{0, 0}));
    // The shorter one is padded with zeros: one word differs, of the first the second does not.
    from.nodes[0].launch.params = bytes({1, 0, 0, 0, 0, 0});
    to.nodes[0].launch.params = bytes({2, 0, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(differences(from, to), (Differences{1, 1}));
    // Longer by zeros alone: the node differs, no word does.
    to.nodes[0].launch.params = bytes({1, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(differences(from, to), (Differences{1, 0}));
    // Another kernel: all words of the member's, a started one counts.
    to.nodes[0].launch.name = "other";
    EXPECT_EQ(differences(from, to), (Differences{1, 2}));
    to.nodes[1].launch.grid = {2, 1, 1};
    EXPECT_EQ(differences(from, to), (Differences{2, 2}));
    // What an update does not carry over is the key's affair.
    to.nodes[2].launch.attributes = {{"priority", Integer::of(std::int64_t{1})}};
    EXPECT_EQ(differences(from, to), (Differences{2, 2}));
    from.nodes[2].type = to.nodes[2].type = NodeType::memset;
    from.nodes[2].fields = {{"dst", Integer::of(std::uint64_t{1})}, {"value", Integer{}}};
    to.nodes[2].fields = {{"dst", Integer::of(std::uint64_t{2})}, {"width", Integer{}}};
    EXPECT_EQ(differences(from, to), (Differences{3, 8}));
    to.nodes.pop_back();
    EXPECT_THROW(differences(from, to), std::logic_error);
}

}  // namespace
}  // namespace assay::foundry
