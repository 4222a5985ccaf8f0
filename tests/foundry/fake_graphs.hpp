// Graphs on the fake driver: nodes of mangled(to, value), built and read in few words.
#pragma once

#include <algorithm>
#include <tuple>

#include "tests/foundry/fake_device.hpp"

namespace assay::foundry::fake {

inline constexpr CUgraphEdgeData programmatic{.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                              .to_port = 0,
                                              .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
                                              .reserved = {}};
/// from, to, from_port, type
using EdgeOf = std::tuple<std::size_t, std::size_t, int, int>;

class FakeGraphs : public FakeDevice {
  protected:
    void SetUp() override {
        FakeDevice::SetUp();
        image = layouts_image();
        library = load(image);
        set = kernel(library, mangled);
        move = kernel(library, "shaped");
        out = device_memory<double>(64);
        OK(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        OK(d.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
        OK(d.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        OK(d.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    }

    /// A node of mangled(to, value).
    CUgraphNode add_set(CUgraph graph, double* to, double value,
                        const std::vector<CUgraphNode>& after = {}) {
        void* params[] = {&to, &value};
        const CUDA_KERNEL_NODE_PARAMS given = set_params(params);
        CUgraphNode node = nullptr;
        EXPECT_EQ(d.cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &given),
                  CUDA_SUCCESS);
        return node;
    }
    CUDA_KERNEL_NODE_PARAMS set_params(void** params) const {
        CUDA_KERNEL_NODE_PARAMS given{};
        given.kern = set;
        given.gridDimX = given.gridDimY = given.gridDimZ = 1;
        given.blockDimX = 32;
        given.blockDimY = given.blockDimZ = 1;
        given.kernelParams = params;
        return given;
    }
    CUresult launch_set(CUstream on, double* to, double value,
                        std::vector<CUlaunchAttribute> attributes = {}) {
        void* params[] = {&to, &value};
        CUlaunchConfig config{};
        config.gridDimX = config.gridDimY = config.gridDimZ = 1;
        config.blockDimX = 32;
        config.blockDimY = config.blockDimZ = 1;
        config.hStream = on;
        config.attrs = attributes.data();
        config.numAttrs = static_cast<unsigned>(attributes.size());
        return d.cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(set), params, nullptr);
    }
    static CUlaunchAttribute serialised() {
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute.value.programmaticStreamSerializationAllowed = 1;
        return attribute;
    }
    CUgraph new_graph() {
        CUgraph graph = nullptr;
        EXPECT_EQ(d.cuGraphCreate(&graph, 0), CUDA_SUCCESS);
        return graph;
    }
    std::vector<CUgraphNode> nodes_of(CUgraph graph) {
        std::size_t count = 0;
        EXPECT_EQ(d.cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
        std::vector<CUgraphNode> nodes(count);
        EXPECT_EQ(d.cuGraphGetNodes(graph, nodes.data(), &count), CUDA_SUCCESS);
        return nodes;
    }
    std::vector<EdgeOf> edges_of(CUgraph graph) {
        std::size_t count = 0;
        EXPECT_EQ(d.cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), CUDA_SUCCESS);
        std::vector<CUgraphNode> from(count), to(count);
        std::vector<CUgraphEdgeData> data(count);
        EXPECT_EQ(d.cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &count),
                  CUDA_SUCCESS);
        const auto nodes = nodes_of(graph);
        const auto place = [&](CUgraphNode node) {
            return static_cast<std::size_t>(std::ranges::find(nodes, node) - nodes.begin());
        };
        std::vector<EdgeOf> edges;
        for (std::size_t i = 0; i < count; ++i)
            edges.emplace_back(place(from[i]), place(to[i]), data[i].from_port, data[i].type);
        return edges;
    }
    CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0) {
        CUgraphExec exec = nullptr;
        EXPECT_EQ(d.cuGraphInstantiate(&exec, graph, flags), CUDA_SUCCESS);
        return exec;
    }
    CUgraph end_capture() {
        CUgraph graph = nullptr;
        EXPECT_EQ(d.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
        return graph;
    }
    void begin_capture(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
        OK(d.cuStreamBeginCapture(stream, mode));
    }
    CUdeviceptr at(std::size_t i) const { return reinterpret_cast<CUdeviceptr>(out + i); }

    std::string image;
    CUlibrary library = nullptr;
    CUkernel set = nullptr, move = nullptr;
    double* out = nullptr;
    CUstream stream = nullptr, other = nullptr;
    CUevent event = nullptr, join = nullptr;
};

}  // namespace assay::foundry::fake
