#include "impls/foundry/live/read_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "impls/foundry/live/node_attributes.hpp"
#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

std::vector<std::byte> packed_params(const CUDA_KERNEL_NODE_PARAMS& given,
                                     const std::vector<Parameter>& layout) {
    if (given.extra != nullptr) {
        const std::byte* from = nullptr;
        std::size_t bytes = 0;
        for (void** at = given.extra; *at != CU_LAUNCH_PARAM_END; at += 2) {
            if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) from = static_cast<std::byte*>(at[1]);
            if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(at[1]);
        }
        return {from, from + bytes};
    }
    std::vector<std::byte> packed;
    for (std::size_t i = 0; i < layout.size(); ++i) {
        packed.resize(std::max<std::size_t>(packed.size(), layout[i].offset + layout[i].bytes));
        std::memcpy(packed.data() + layout[i].offset, given.kernelParams[i], layout[i].bytes);
    }
    return packed;
}

/// Nodes that no attribute was set of, one for each kernel: what a driver says of such a node no
/// document has.
class UntouchedNodes {
  public:
    explicit UntouchedNodes(const Driver& driver) : driver_(driver) {
        check(driver_, driver_.cuGraphCreate(&graph_, 0), "cuGraphCreate");
    }
    ~UntouchedNodes() { driver_.cuGraphDestroy(graph_); }
    UntouchedNodes(const UntouchedNodes&) = delete;
    UntouchedNodes& operator=(const UntouchedNodes&) = delete;

    CUgraphNode of(const void* kernel, const CUDA_KERNEL_NODE_PARAMS& launched) {
        CUgraphNode& node = nodes_[kernel];
        if (node == nullptr)
            check(driver_, driver_.cuGraphAddKernelNode(&node, graph_, nullptr, 0, &launched),
                  "cuGraphAddKernelNode");
        return node;
    }

  private:
    const Driver& driver_;
    CUgraph graph_ = nullptr;
    std::map<const void*, CUgraphNode> nodes_;
};

Node read_kernel(const Driver& driver, const Images& images, CUgraphNode node,
                 UntouchedNodes& untouched) {
    CUDA_KERNEL_NODE_PARAMS given{};
    check(driver, driver.cuGraphKernelNodeGetParams(node, &given), "cuGraphKernelNodeGetParams");
    const void* handle = given.func != nullptr ? static_cast<const void*>(given.func)
                                               : static_cast<const void*>(given.kern);
    const auto identity = images.identify(handle);
    if (!identity)
        throw UserError("a kernel node launches a kernel of no image that was loaded to be saved");
    return {.type = NodeType::kernel,
            .launch = {.image = identity->image,
                       .name = identity->name,
                       .grid = {given.gridDimX, given.gridDimY, given.gridDimZ},
                       .block = {given.blockDimX, given.blockDimY, given.blockDimZ},
                       .shared_bytes = given.sharedMemBytes,
                       .attributes = read_attributes(driver, node, untouched.of(handle, given)),
                       .params = packed_params(
                           given, images.find(identity->image, identity->name)->params)}};
}

Integer number(std::uint64_t value) { return Integer::of(value); }

Node read_memset(const Driver& driver, CUgraphNode node) {
    CUDA_MEMSET_NODE_PARAMS given{};
    check(driver, driver.cuGraphMemsetNodeGetParams(node, &given), "cuGraphMemsetNodeGetParams");
    return {.type = NodeType::memset,
            .fields = {{"dst", number(given.dst)},
                       {"elementSize", number(given.elementSize)},
                       {"height", number(given.height)},
                       {"pitch", number(given.pitch)},
                       {"value", number(given.value)},
                       {"width", number(given.width)}}};
}

Node read_memcpy(const Driver& driver, CUgraphNode node) {
    CUDA_MEMCPY3D given{};
    check(driver, driver.cuGraphMemcpyNodeGetParams(node, &given), "cuGraphMemcpyNodeGetParams");
    const auto on_device = [](CUmemorytype type) {
        return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED;
    };
    if (!on_device(given.srcMemoryType) || !on_device(given.dstMemoryType))
        throw UserError(
            "a memcpy node between the device and the host, or an array, cannot be "
            "built again; copy outside of the graph");
    return {.type = NodeType::memcpy,
            .fields = {{"depth", number(given.Depth)},
                       {"dst", number(given.dstDevice)},
                       {"dst_height", number(given.dstHeight)},
                       {"dst_pitch", number(given.dstPitch)},
                       {"dst_x", number(given.dstXInBytes)},
                       {"dst_y", number(given.dstY)},
                       {"dst_z", number(given.dstZ)},
                       {"height", number(given.Height)},
                       {"src", number(given.srcDevice)},
                       {"src_height", number(given.srcHeight)},
                       {"src_pitch", number(given.srcPitch)},
                       {"src_x", number(given.srcXInBytes)},
                       {"src_y", number(given.srcY)},
                       {"src_z", number(given.srcZ)},
                       {"width", number(given.WidthInBytes)}}};
}

/// Events are numbers in the order in which the graph's nodes name them.
class Events {
  public:
    Node node(NodeType type, CUevent event) {
        const auto [at, is_new] = numbers_.try_emplace(event, numbers_.size());
        return {.type = type, .fields = {{"event", number(at->second)}}};
    }

  private:
    std::map<CUevent, std::uint64_t> numbers_;
};

Node read_node(const Driver& driver, const Images& images, CUgraphNode node, Events& events,
               UntouchedNodes& untouched) {
    CUgraphNodeType type{};
    check(driver, driver.cuGraphNodeGetType(node, &type), "cuGraphNodeGetType");
    CUevent event = nullptr;
    switch (type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return read_kernel(driver, images, node, untouched);
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return read_memset(driver, node);
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return read_memcpy(driver, node);
        case CU_GRAPH_NODE_TYPE_EMPTY:
            return {};
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            check(driver, driver.cuGraphEventRecordNodeGetEvent(node, &event),
                  "cuGraphEventRecordNodeGetEvent");
            return events.node(NodeType::event_record, event);
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            check(driver, driver.cuGraphEventWaitNodeGetEvent(node, &event),
                  "cuGraphEventWaitNodeGetEvent");
            return events.node(NodeType::event_wait, event);
        default:
            throw UserError(fmt::format("a node of the driver's type {} cannot be built again",
                                        static_cast<int>(type)));
    }
}

/// In the order of their creation.
std::vector<CUgraphNode> nodes_of(const Driver& driver, CUgraph graph) {
    std::size_t count = 0;
    check(driver, driver.cuGraphGetNodes(graph, nullptr, &count), "cuGraphGetNodes");
    std::vector<CUgraphNode> nodes(count);
    if (count > 0)
        check(driver, driver.cuGraphGetNodes(graph, nodes.data(), &count), "cuGraphGetNodes");
    return nodes;
}

}  // namespace

Graph read_graph(const Driver& driver, const Images& images, CUgraph graph, std::int64_t batch) {
    Graph read{.batch = batch};
    Events events;
    UntouchedNodes untouched(driver);
    std::map<CUgraphNode, std::uint32_t> number_of;
    for (const CUgraphNode node : nodes_of(driver, graph)) {
        number_of.emplace(node, static_cast<std::uint32_t>(read.nodes.size()));
        read.nodes.push_back(read_node(driver, images, node, events, untouched));
    }
    std::size_t count = 0;
    // With edge data asked for, the driver counts edges that are not plain ones, too.
    check(driver, driver.cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count),
          "cuGraphGetEdges");
    std::vector<CUgraphNode> from(count), to(count);
    std::vector<CUgraphEdgeData> data(count);
    if (count > 0)
        check(driver, driver.cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &count),
              "cuGraphGetEdges");
    for (std::size_t i = 0; i < count; ++i)
        read.edges.push_back({.from = number_of.at(from[i]),
                              .to = number_of.at(to[i]),
                              .from_port = data[i].from_port,
                              .to_port = data[i].to_port,
                              .type = data[i].type});
    std::ranges::sort(read.edges);
    return read;
}

}  // namespace assay::foundry
