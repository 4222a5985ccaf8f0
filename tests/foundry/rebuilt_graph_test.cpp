// A graph built with the explicit interface and read again is the graph that was asked for, with
// every attribute, event and kind of edge.
#include <gtest/gtest.h>

#include <bit>

#include "impls/foundry/live/built_graph.hpp"
#include "impls/foundry/live/node_attributes.hpp"
#include "impls/foundry/live/read_graph.hpp"
#include "impls/foundry/method/graphs/graph_lines.hpp"
#include "impls/foundry/toy/host_kernels.hpp"
#include "suite/base/error.hpp"
#include "tests/foundry/fake_device.hpp"

namespace assay::foundry {
namespace {

constexpr std::uint64_t memory = 0x2f0000000000;

class RebuiltGraph : public testing::Test {
  protected:
    RebuiltGraph()
        : driver_(open_driver(ASSAY_FOUNDRY_FAKE)),
          device_((fake::FakeControl(*driver_).reset(), driver_)),
          images_(*driver_),
          code_(fake::layouts_image()),
          image_(images_.load(std::as_bytes(std::span(code_)))) {}

    /// A kernel without parameters.
    Node kernel(Attributes attributes = {}) const {
        return {.type = NodeType::kernel,
                .launch = {.image = image_,
                           .name = "no_params",
                           .grid = {4, 1, 1},
                           .attributes = std::move(attributes)}};
    }
    /// Built, and read again; as text.
    std::string rebuilt(const Graph& graph) const {
        const BuiltGraph built(device_, images_, graph);
        return to_line(read_graph(*driver_, images_, built.get(), graph.batch));
    }

    std::shared_ptr<const Driver> driver_;
    Device device_;
    Images images_;
    std::string code_, image_;
};

Integer number(std::int64_t value) { return Integer::of(value); }

TEST_F(RebuiltGraph, HasEachAttributeThatItWasGiven) {
    const std::int64_t half = std::bit_cast<std::int32_t>(0.5F);
    const Attributes all{{"access_policy", std::vector{Integer::of(memory), number(1 << 20),
                                                       number(half), number(2), number(1)}},
                         {"carveout", number(50)},
                         {"cluster", std::vector{number(2), number(1), number(1)}},
                         {"cluster_scheduling", number(1)},
                         {"cooperative", number(1)},
                         {"mem_sync_domain", number(1)},
                         {"mem_sync_domain_map", std::vector{number(1), number(0)}},
                         {"preferred_cluster", std::vector{number(4), number(1), number(1)}},
                         {"priority", number(-3)}};
    for (const auto& one : all) {
        const Graph graph{.batch = 3, .nodes = {kernel({one})}};
        EXPECT_EQ(rebuilt(graph), to_line(graph)) << one.first;
    }
    const Graph plain{.batch = 1, .nodes = {kernel()}};
    EXPECT_EQ(rebuilt(plain), to_line(plain)) << "what was not given is not there";
}

TEST_F(RebuiltGraph, RefusesAttributesThatItCannotSet) {
    const auto refused = [&](Attributes attributes) {
        const Graph graph{.batch = 1, .nodes = {kernel(std::move(attributes))}};
        EXPECT_THROW(rebuilt(graph), UserError);
    };
    refused({{"colour", number(1)}});
    refused({{"priority", std::vector{number(1), number(2)}}});
    refused({{"access_policy", number(1)}});
}

TEST_F(RebuiltGraph, HasItsEventsAndItsEdges) {
    const auto event = [](NodeType type, std::uint64_t of) {
        return Node{.type = type, .fields = {{"event", Integer::of(of)}}};
    };
    const Graph graph{.batch = 2,
                      .nodes = {kernel(),
                                kernel(),
                                event(NodeType::event_record, 0),
                                event(NodeType::event_record, 1),
                                event(NodeType::event_wait, 0),
                                {}},
                      .edges = {{.from = 0, .to = 1, .from_port = 1, .type = 1},
                                {.from = 0, .to = 5},
                                {.from = 1, .to = 2},
                                {.from = 2, .to = 3},
                                {.from = 3, .to = 4}}};
    EXPECT_EQ(rebuilt(graph), to_line(graph));
}

TEST_F(RebuiltGraph, BecomesAnother) {
    const Graph one{.batch = 1, .nodes = {kernel(), kernel()}, .edges = {{.from = 0, .to = 1}}};
    Graph other = one;
    other.batch = 2;
    other.nodes[1].launch.grid = {8, 1, 1};
    BuiltGraph built(device_, images_, one);
    built.rewrite(other);
    EXPECT_EQ(to_line(read_graph(*driver_, images_, built.get(), 2)), to_line(other));
}

}  // namespace
}  // namespace assay::foundry
