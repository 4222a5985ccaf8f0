#include "impls/foundry/live/built_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "impls/foundry/live/node_attributes.hpp"
#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

/// The driver's form of a launch. Parameters are given one by one, as cooperative launches want it;
/// what it points to must stay while it is used.
class KernelParams {
  public:
    KernelParams(const Images& images, const Launch& launch) {
        const Images::Resolved* resolved = images.find(launch.image, launch.name);
        if (resolved == nullptr)
            throw UserError(fmt::format("kernel {} of image {} is not there", launch.name,
                                        launch.image.substr(0, 12)));
        for (const Parameter& parameter : resolved->params) {
            if (parameter.offset + parameter.bytes > launch.params.size())
                throw UserError(fmt::format("kernel {} wants {} bytes of parameters, {} are given",
                                            launch.name, parameter.offset + parameter.bytes,
                                            launch.params.size()));
            // The driver copies; it takes pointers to what is not const.
            pointers_.push_back(const_cast<std::byte*>(launch.params.data()) + parameter.offset);
        }
        params_.kern = resolved->kernel;
        std::tie(params_.gridDimX, params_.gridDimY, params_.gridDimZ) =
            std::tuple(launch.grid[0], launch.grid[1], launch.grid[2]);
        std::tie(params_.blockDimX, params_.blockDimY, params_.blockDimZ) =
            std::tuple(launch.block[0], launch.block[1], launch.block[2]);
        params_.sharedMemBytes = launch.shared_bytes;
        params_.kernelParams = pointers_.data();
    }
    const CUDA_KERNEL_NODE_PARAMS* get() const { return &params_; }

  private:
    CUDA_KERNEL_NODE_PARAMS params_{};
    std::vector<void*> pointers_;
};

CUDA_MEMSET_NODE_PARAMS memset_params(const Fields& fields) {
    return {.dst = field(fields, "dst").bits,
            .pitch = field(fields, "pitch").bits,
            .value = static_cast<unsigned>(field(fields, "value").bits),
            .elementSize = static_cast<unsigned>(field(fields, "elementSize").bits),
            .width = field(fields, "width").bits,
            .height = field(fields, "height").bits};
}

CUDA_MEMCPY3D memcpy_params(const Fields& fields) {
    CUDA_MEMCPY3D params{};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    const std::pair<std::size_t*, const char*> sizes[] = {
        {&params.Depth, "depth"},        {&params.dstHeight, "dst_height"},
        {&params.dstPitch, "dst_pitch"}, {&params.dstXInBytes, "dst_x"},
        {&params.dstY, "dst_y"},         {&params.dstZ, "dst_z"},
        {&params.Height, "height"},      {&params.srcHeight, "src_height"},
        {&params.srcPitch, "src_pitch"}, {&params.srcXInBytes, "src_x"},
        {&params.srcY, "src_y"},         {&params.srcZ, "src_z"},
        {&params.WidthInBytes, "width"},
    };
    for (const auto& [to, name] : sizes) *to = field(fields, name).bits;
    params.dstDevice = field(fields, "dst").bits;
    params.srcDevice = field(fields, "src").bits;
    return params;
}

}  // namespace

Executable::Executable(const Driver& driver, CUgraph graph) : driver_(&driver) {
    check(driver, driver.cuGraphInstantiate(&exec_, graph, 0), "cuGraphInstantiate");
}

Executable::~Executable() {
    if (exec_ != nullptr) driver_->cuGraphExecDestroy(exec_);
}

void Executable::launch(CUstream stream) const {
    check(*driver_, driver_->cuGraphLaunch(exec_, stream), "cuGraphLaunch");
}

std::string Executable::update(CUgraph graph) {
    CUgraphExecUpdateResultInfo info{};
    const CUresult result = driver_->cuGraphExecUpdate(exec_, graph, &info);
    if (result == CUDA_SUCCESS) return {};
    const char* name = "unknown";
    driver_->cuGetErrorName(result, &name);
    return fmt::format("cuGraphExecUpdate: {}, reason {}", name, static_cast<int>(info.result));
}

BuiltGraph::BuiltGraph(const Device& device, const Images& images, const Graph& graph)
    : device_(device), driver_(device.driver()), images_(images), shown_(graph) {
    check(driver_, driver_.cuGraphCreate(&graph_, 0), "cuGraphCreate");
    try {
        for (const Node& node : graph.nodes) add(node);
        add_edges();
    } catch (...) {
        driver_.cuGraphDestroy(graph_);
        for (const CUevent event : events_) driver_.cuEventDestroy(event);
        throw;
    }
}

BuiltGraph::~BuiltGraph() {
    driver_.cuGraphDestroy(graph_);
    for (const CUevent event : events_) driver_.cuEventDestroy(event);
}

void BuiltGraph::add(const Node& node) {
    CUgraphNode& added = nodes_.emplace_back();
    const auto event = [&] {
        // Events of the saving process do not exist here: the graph gets its own.
        const std::uint64_t number = field(node.fields, "event").bits;
        if (number > shown_.nodes.size())
            throw UserError(
                fmt::format("event {} of a graph of {} nodes", number, shown_.nodes.size()));
        while (events_.size() <= number)
            check(driver_, driver_.cuEventCreate(&events_.emplace_back(), CU_EVENT_DISABLE_TIMING),
                  "cuEventCreate");
        return events_[number];
    };
    switch (node.type) {
        case NodeType::kernel: {
            const KernelParams params(images_, node.launch);
            raise_limits(node.launch);
            check(driver_, driver_.cuGraphAddKernelNode(&added, graph_, nullptr, 0, params.get()),
                  "cuGraphAddKernelNode");
            return set_attributes(driver_, added, node.launch.attributes);
        }
        case NodeType::memset: {
            const auto params = memset_params(node.fields);
            return check(driver_,
                         driver_.cuGraphAddMemsetNode(&added, graph_, nullptr, 0, &params,
                                                      device_.context()),
                         "cuGraphAddMemsetNode");
        }
        case NodeType::memcpy: {
            const auto params = memcpy_params(node.fields);
            return check(driver_,
                         driver_.cuGraphAddMemcpyNode(&added, graph_, nullptr, 0, &params,
                                                      device_.context()),
                         "cuGraphAddMemcpyNode");
        }
        case NodeType::event_record:
            return check(driver_,
                         driver_.cuGraphAddEventRecordNode(&added, graph_, nullptr, 0, event()),
                         "cuGraphAddEventRecordNode");
        case NodeType::event_wait:
            return check(driver_,
                         driver_.cuGraphAddEventWaitNode(&added, graph_, nullptr, 0, event()),
                         "cuGraphAddEventWaitNode");
        case NodeType::empty:
            return check(driver_, driver_.cuGraphAddEmptyNode(&added, graph_, nullptr, 0),
                         "cuGraphAddEmptyNode");
    }
}

/// What a kernel may use is set on its own copy in the saving process, and is not part of a graph.
void BuiltGraph::raise_limits(const Launch& launch) const {
    constexpr std::uint32_t shared_without_asking = 48 * 1024, portable_cluster = 8;
    const CUkernel kernel = images_.find(launch.image, launch.name)->kernel;
    const auto set = [&](CUfunction_attribute attribute, int value) {
        int allowed = 0;  // by another node of the same kernel
        check(driver_, driver_.cuKernelGetAttribute(&allowed, attribute, kernel, device_.handle()),
              "cuKernelGetAttribute");
        if (allowed >= value) return;
        check(driver_, driver_.cuKernelSetAttribute(attribute, value, kernel, device_.handle()),
              "cuKernelSetAttribute");
    };
    if (launch.shared_bytes > shared_without_asking)
        set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(launch.shared_bytes));
    const Extent blocks = cluster(launch);
    if (blocks[0] * blocks[1] * blocks[2] > portable_cluster)
        set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
}

/// In rising order, since an update pairs nodes by the order of edges; in calls of equal edge data,
/// since some drivers give all edges of a call the first one's (specification 3.6).
void BuiltGraph::add_edges() {
    for (auto first = shown_.edges.begin(); first != shown_.edges.end();) {
        const auto kind = [](const Edge& edge) {
            return std::tuple(edge.from_port, edge.to_port, edge.type);
        };
        const auto last = std::find_if(first, shown_.edges.end(), [&](const Edge& edge) {
            return kind(edge) != kind(*first);
        });
        std::vector<CUgraphNode> from, to;
        for (auto edge = first; edge != last; ++edge) {
            from.push_back(nodes_[edge->from]);
            to.push_back(nodes_[edge->to]);
        }
        CUgraphEdgeData one{};
        one.from_port = first->from_port;
        one.to_port = first->to_port;
        one.type = first->type;
        const std::vector<CUgraphEdgeData> data(from.size(), one);
        check(driver_,
              driver_.cuGraphAddDependencies(graph_, from.data(), to.data(), data.data(),
                                             from.size()),
              "cuGraphAddDependencies");
        first = last;
    }
}

void BuiltGraph::write(std::size_t at, const Node& node, CUgraphExec executable) const {
    const CUgraphNode to = nodes_[at];
    if (node.type == NodeType::kernel) {
        const KernelParams params(images_, node.launch);
        raise_limits(node.launch);
        check(driver_,
              executable != nullptr
                  ? driver_.cuGraphExecKernelNodeSetParams(executable, to, params.get())
                  : driver_.cuGraphKernelNodeSetParams(to, params.get()),
              executable != nullptr ? "cuGraphExecKernelNodeSetParams"
                                    : "cuGraphKernelNodeSetParams");
    } else if (node.type == NodeType::memset) {
        const auto params = memset_params(node.fields);
        check(driver_,
              executable != nullptr ? driver_.cuGraphExecMemsetNodeSetParams(
                                          executable, to, &params, device_.context())
                                    : driver_.cuGraphMemsetNodeSetParams(to, &params),
              "cuGraphMemsetNodeSetParams");
    } else if (node.type == NodeType::memcpy) {
        const auto params = memcpy_params(node.fields);
        check(driver_,
              executable != nullptr ? driver_.cuGraphExecMemcpyNodeSetParams(
                                          executable, to, &params, device_.context())
                                    : driver_.cuGraphMemcpyNodeSetParams(to, &params),
              "cuGraphMemcpyNodeSetParams");
    } else {
        throw UserError("a node of an event cannot be rewritten: the graph is built for itself");
    }
}

void BuiltGraph::rewrite(const Graph& to) {
    for (std::size_t at = 0; at < shown_.nodes.size(); ++at) {
        if (shown_.nodes[at] == to.nodes.at(at)) continue;
        write(at, to.nodes[at], nullptr);
        shown_.nodes[at] = to.nodes[at];
    }
    shown_.batch = to.batch;
}

void BuiltGraph::write_nodes(const Graph& from, const Graph& to,
                             const Executable& executable) const {
    for (std::size_t at = 0; at < from.nodes.size(); ++at)
        if (from.nodes[at] != to.nodes.at(at)) write(at, to.nodes[at], executable.get());
}

}  // namespace assay::foundry
