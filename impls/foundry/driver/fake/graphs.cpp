// Graphs: nodes and edges in the order of their creation, read and changed by the explicit calls.
#include <algorithm>
#include <cstring>

#include "impls/foundry/driver/fake/state.hpp"

namespace assay::foundry::fake {
namespace {

bool is_known(CUgraphNode node) { return state().nodes.count(node) != 0; }

bool is_plain(const CUgraphEdgeData& data) {
    return data.from_port == 0 && data.to_port == 0 && data.type == 0;
}

/// Whether an edge may carry this between these nodes: only kernels have ports, and a port other
/// than completion goes with the programmatic type.
bool fits(const CUgraphEdgeData& data, CUgraphNode from, CUgraphNode to) {
    if (std::ranges::any_of(data.reserved, [](unsigned char byte) { return byte != 0; }))
        return false;
    if (is_plain(data)) return true;
    return data.to_port == 0 && data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
           (data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
            data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER) &&
           std::holds_alternative<KernelWork>(from->work) &&
           std::holds_alternative<KernelWork>(to->work);
}

bool depends_on(CUgraphNode to, CUgraphNode from) {
    return std::ranges::any_of(to->dependencies,
                               [&](const Dependency& other) { return other.node == from; });
}

CUresult add(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
             Work work) {
    FAKE_NEED(node && state().graphs.has(graph) && (count == 0 || dependencies),
              CUDA_ERROR_INVALID_VALUE);
    std::unordered_set<CUgraphNode> distinct;
    for (size_t i = 0; i < count; ++i)
        FAKE_NEED(is_known(dependencies[i]) && dependencies[i]->graph == graph &&
                      distinct.insert(dependencies[i]).second,
                  CUDA_ERROR_INVALID_VALUE);
    *node = add_node(graph, std::move(work));
    for (size_t i = 0; i < count; ++i) add_edge(graph, dependencies[i], *node, {});
    return CUDA_SUCCESS;
}

/// The node's work, when it is of this type; else null.
template <class Type>
Type* work_of(CUgraphNode node) {
    return is_known(node) ? std::get_if<Type>(&node->work) : nullptr;
}

/// Fills and copies: three calls for each.
template <class Params>
CUresult add_checked(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                     size_t count, const Params* params, CUcontext context) {
    FAKE_NEED(params, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(context == &state().context, CUDA_ERROR_INVALID_CONTEXT);
    if (const CUresult refusal = check_params(*params)) return refusal;
    return add(node, graph, dependencies, count, *params);
}
template <class Params>
CUresult show(CUgraphNode node, Params* params) {
    const auto* const work = work_of<Params>(node);
    FAKE_NEED(work && params, CUDA_ERROR_INVALID_VALUE);
    *params = *work;
    return CUDA_SUCCESS;
}
template <class Params>
CUresult replace(CUgraphNode node, const Params* params) {
    auto* const work = work_of<Params>(node);
    FAKE_NEED(work && params, CUDA_ERROR_INVALID_VALUE);
    if (const CUresult refusal = check_params(*params)) return refusal;
    *work = *params;
    return CUDA_SUCCESS;
}
template <class Type>
CUresult show_event(CUgraphNode node, CUevent* event) {
    const auto* const work = work_of<Type>(node);
    FAKE_NEED(work && event, CUDA_ERROR_INVALID_VALUE);
    *event = work->event;
    return CUDA_SUCCESS;
}

CUgraphNodeType type_of(const Work& work) {
    constexpr CUgraphNodeType types[] = {
        CU_GRAPH_NODE_TYPE_KERNEL,       CU_GRAPH_NODE_TYPE_MEMSET,     CU_GRAPH_NODE_TYPE_MEMCPY,
        CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_EMPTY};
    return types[work.index()];
}

/// What kernelParams or extra point to is the node's own.
void show_params(CUgraphNode node, KernelWork& work, CUDA_KERNEL_NODE_PARAMS& params) {
    node->shown.clear();
    if (work.packed) {
        node->shown_bytes = work.params.size();
        node->shown = {CU_LAUNCH_PARAM_BUFFER_POINTER, work.params.data(),
                       CU_LAUNCH_PARAM_BUFFER_SIZE, &node->shown_bytes, CU_LAUNCH_PARAM_END};
        params.extra = node->shown.data();
    } else if (!work.kernel->image.params.empty()) {
        for (const Parameter& param : work.kernel->image.params)
            node->shown.push_back(work.params.data() + param.offset);
        params.kernelParams = node->shown.data();
    }
}

}  // namespace

CUgraphNode add_node(CUgraph graph, Work work) {
    graph->nodes.push_back(std::make_unique<CUgraphNode_st>(CUgraphNode_st{
        .graph = graph, .id = state().next_id++, .work = std::move(work), .dependencies = {}}));
    const CUgraphNode node = graph->nodes.back().get();
    state().nodes.insert(node);
    return node;
}

void add_edge(CUgraph graph, CUgraphNode from, CUgraphNode to, const CUgraphEdgeData& data) {
    to->dependencies.push_back({from, data});
    graph->edges.push_back({from, to, data});
}

void destroy_graph(CUgraph graph) {
    for (const auto& node : graph->nodes) state().nodes.erase(node.get());
    state().graphs.erase(graph);
}

bool is_node_attribute(int id) {
    switch (id) {
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
            return true;
        default:
            return false;
    }
}

CUresult check_work(const Work& work) {
    if (const auto* const kernel = std::get_if<KernelWork>(&work)) return check_launchable(*kernel);
    if (const auto* const memset = std::get_if<CUDA_MEMSET_NODE_PARAMS>(&work))
        return check_params(*memset);
    if (const auto* const copy = std::get_if<CUDA_MEMCPY3D>(&work)) return check_params(*copy);
    const auto* const record = std::get_if<EventRecord>(&work);
    const auto* const wait = std::get_if<EventWait>(&work);
    FAKE_NEED((!record || state().events.has(record->event)) &&
                  (!wait || state().events.has(wait->event)),
              CUDA_ERROR_INVALID_HANDLE);
    return CUDA_SUCCESS;
}

}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
    FAKE_CALL(cuGraphCreate, driver);
    FAKE_NEED(graph && flags == 0, CUDA_ERROR_INVALID_VALUE);
    *graph = state().graphs.make();
    return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
    FAKE_CALL(cuGraphDestroy, driver);
    FAKE_NEED(state().graphs.has(graph) && !graph->captured_into, CUDA_ERROR_INVALID_VALUE);
    destroy_graph(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
    FAKE_CALL(cuGraphGetNodes, driver);
    FAKE_NEED(count && state().graphs.has(graph), CUDA_ERROR_INVALID_VALUE);
    if (!nodes) {
        *count = graph->nodes.size();
        return CUDA_SUCCESS;
    }
    const size_t given = std::min(*count, graph->nodes.size());
    for (size_t i = 0; i < *count; ++i) nodes[i] = i < given ? graph->nodes[i].get() : nullptr;
    *count = given;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                         size_t* count) {
    FAKE_CALL(cuGraphGetEdges, driver);
    FAKE_NEED(count && state().graphs.has(graph) && !from == !to && (!data || from),
              CUDA_ERROR_INVALID_VALUE);
    if (!from) {
        *count = graph->edges.size();
        return CUDA_SUCCESS;
    }
    const size_t given = std::min(*count, graph->edges.size());
    FAKE_NEED(data || std::all_of(graph->edges.begin(),
                                  graph->edges.begin() + static_cast<std::ptrdiff_t>(given),
                                  [](const auto& edge) { return is_plain(edge.data); }),
              CUDA_ERROR_LOSSY_QUERY);
    for (size_t i = 0; i < *count; ++i) {
        from[i] = i < given ? graph->edges[i].from : nullptr;
        to[i] = i < given ? graph->edges[i].to : nullptr;
        if (data) data[i] = i < given ? graph->edges[i].data : CUgraphEdgeData{};
    }
    *count = given;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* data, size_t count) {
    FAKE_CALL(cuGraphAddDependencies, driver);
    FAKE_NEED(state().graphs.has(graph), CUDA_ERROR_INVALID_VALUE);
    if (count == 0) return CUDA_SUCCESS;
    FAKE_NEED(from && to, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; ++i)  // nothing is added unless all can be
        FAKE_NEED(is_known(from[i]) && is_known(to[i]) && from[i]->graph == graph &&
                      to[i]->graph == graph && from[i] != to[i] && !depends_on(to[i], from[i]) &&
                      (!data || fits(data[i], from[i], to[i])),
                  CUDA_ERROR_INVALID_VALUE);
    std::unordered_map<CUgraphNode, std::unordered_set<CUgraphNode>> distinct;
    for (size_t i = 0; i < count; ++i)
        FAKE_NEED(distinct[to[i]].insert(from[i]).second, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; ++i) {
        const CUgraphEdgeData* const shown =
            data ? &data[state().settings.bulk_edge_bug ? 0 : i] : nullptr;
        add_edge(graph, from[i], to[i], shown ? *shown : CUgraphEdgeData{});
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
    FAKE_CALL(cuGraphNodeGetType, driver);
    FAKE_NEED(type && is_known(node), CUDA_ERROR_INVALID_VALUE);
    *type = type_of(node->work);
    return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             size_t count) {
    FAKE_CALL(cuGraphAddEmptyNode, driver);
    return add(node, graph, dependencies, count, std::monostate());
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                   const CUgraphNode* dependencies, size_t count, CUevent event) {
    FAKE_CALL(cuGraphAddEventRecordNode, driver);
    FAKE_NEED(state().events.has(event), CUDA_ERROR_INVALID_VALUE);
    return add(node, graph, dependencies, count, EventRecord{event});
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, CUevent event) {
    FAKE_CALL(cuGraphAddEventWaitNode, driver);
    FAKE_NEED(state().events.has(event), CUDA_ERROR_INVALID_VALUE);
    return add(node, graph, dependencies, count, EventWait{event});
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
    FAKE_CALL(cuGraphEventRecordNodeGetEvent, driver);
    return show_event<EventRecord>(node, event);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
    FAKE_CALL(cuGraphEventWaitNodeGetEvent, driver);
    return show_event<EventWait>(node, event);
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
    FAKE_CALL(cuGraphAddKernelNode, context);
    FAKE_NEED(params, CUDA_ERROR_INVALID_VALUE);
    KernelWork work;
    if (const CUresult refusal = make_kernel_work(*params, {}, work)) return refusal;
    return add(node, graph, dependencies, count, std::move(work));
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
    FAKE_CALL(cuGraphKernelNodeGetParams, driver);
    auto* const work = work_of<KernelWork>(node);
    FAKE_NEED(work && params, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(state().kernels.count(work->kernel), CUDA_ERROR_INVALID_HANDLE);
    *params = {.func = work->by_kernel ? nullptr : &work->kernel->function,
               .gridDimX = work->grid[0],
               .gridDimY = work->grid[1],
               .gridDimZ = work->grid[2],
               .blockDimX = work->block[0],
               .blockDimY = work->block[1],
               .blockDimZ = work->block[2],
               .sharedMemBytes = work->shared_bytes,
               .kernelParams = nullptr,
               .extra = nullptr,
               .kern = work->by_kernel ? work->kernel : nullptr,
               .ctx = &state().context};
    show_params(node, *work, *params);
    return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
    FAKE_CALL(cuGraphKernelNodeSetParams, context);
    auto* const work = work_of<KernelWork>(node);
    FAKE_NEED(work && params, CUDA_ERROR_INVALID_VALUE);
    KernelWork next;  // `params` may point into the node
    if (const CUresult refusal = make_kernel_work(*params, work->attributes, next)) return refusal;
    *work = std::move(next);
    return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID id,
                                       CUlaunchAttributeValue* value) {
    FAKE_CALL(cuGraphKernelNodeGetAttribute, driver);
    const auto* const work = work_of<KernelWork>(node);
    FAKE_NEED(work, CUDA_ERROR_INVALID_HANDLE);
    FAKE_NEED(value && is_node_attribute(id), CUDA_ERROR_INVALID_VALUE);
    std::memset(value, 0, sizeof *value);
    if (const auto found = work->attributes.find(id); found != work->attributes.end())
        *value = found->second;
    else if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        value->clusterDim = {1, 1, 1};
    return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue* value) {
    FAKE_CALL(cuGraphKernelNodeSetAttribute, driver);
    auto* const work = work_of<KernelWork>(node);
    FAKE_NEED(work, CUDA_ERROR_INVALID_HANDLE);
    FAKE_NEED(value && is_node_attribute(id), CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(id != CU_LAUNCH_ATTRIBUTE_COOPERATIVE || !value->cooperative || !work->packed,
              CUDA_ERROR_INVALID_VALUE);
    work->attributes[id] = *value;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* params,
                              CUcontext context) {
    FAKE_CALL(cuGraphAddMemsetNode, context);
    return add_checked(node, graph, dependencies, count, params, context);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
    FAKE_CALL(cuGraphMemsetNodeGetParams, driver);
    return show(node, params);
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
    FAKE_CALL(cuGraphMemsetNodeSetParams, driver);
    return replace(node, params);
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMCPY3D* params, CUcontext context) {
    FAKE_CALL(cuGraphAddMemcpyNode, context);
    return add_checked(node, graph, dependencies, count, params, context);
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
    FAKE_CALL(cuGraphMemcpyNodeGetParams, driver);
    return show(node, params);
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
    FAKE_CALL(cuGraphMemcpyNodeSetParams, driver);
    return replace(node, params);
}
