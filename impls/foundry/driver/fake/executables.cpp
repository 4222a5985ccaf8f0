// Executable graphs: copies of a graph's nodes, launched in an order that the edges allow.
#include <algorithm>
#include <queue>

#include "impls/foundry/driver/fake/state.hpp"

namespace assay::foundry::fake {
namespace {

constexpr std::int64_t device_bytes_of_node = 3 << 10;  // specification 3.9
constexpr std::size_t nodes_without_penalty = 128;      // specification 3.9

std::int64_t device_bytes(const CUgraphExec_st& exec) {
    return device_bytes_of_node * static_cast<std::int64_t>(exec.nodes.size());
}

/// Of all that may run, the node made last comes first, so that a lost edge shows as a wrong
/// result. Shorter than `nodes` where there is a cycle.
std::vector<std::size_t> order_of(const std::vector<CUgraphExec_st::Node>& nodes) {
    std::vector<std::size_t> waits(nodes.size());
    std::vector<std::vector<std::size_t>> dependents(nodes.size());
    std::priority_queue<std::size_t> ready;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        waits[i] = nodes[i].dependencies.size();
        for (const std::size_t before : nodes[i].dependencies) dependents[before].push_back(i);
        if (waits[i] == 0) ready.push(i);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        order.push_back(ready.top());
        ready.pop();
        for (const std::size_t next : dependents[order.back()])
            if (--waits[next] == 0) ready.push(next);
    }
    return order;
}

CUresult instantiate(CUgraphExec* made, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS& params) {
    params.hErrNode_out = nullptr;
    params.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    constexpr unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    FAKE_NEED(made && state().graphs.has(graph) && !graph->captured_into, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(!(params.flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
              CUDA_ERROR_NOT_SUPPORTED);
    FAKE_NEED((params.flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE);

    auto exec = CUgraphExec_st{.nodes = {}, .order = {}, .flags = params.flags};
    std::unordered_map<CUgraphNode, std::size_t> place;
    for (const auto& node : graph->nodes) place.emplace(node.get(), place.size());
    for (const auto& node : graph->nodes) {
        if (const CUresult refusal = check_work(node->work)) {
            params.hErrNode_out = node.get();
            return refusal;
        }
        exec.nodes.push_back(
            {.source = node->id, .work = node->work, .dependencies = {}, .data = {}});
        for (const Dependency& dependency : node->dependencies) {
            exec.nodes.back().dependencies.push_back(place.at(dependency.node));
            exec.nodes.back().data.push_back(dependency.data);
        }
    }
    exec.order = order_of(exec.nodes);
    if (exec.order.size() != exec.nodes.size()) {
        std::vector<bool> ordered(exec.nodes.size());
        for (const std::size_t node : exec.order) ordered[node] = true;
        const auto in_cycle = std::find(ordered.begin(), ordered.end(), false) - ordered.begin();
        params.hErrNode_out = graph->nodes[static_cast<std::size_t>(in_cycle)].get();
        params.result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        return CUDA_ERROR_INVALID_VALUE;
    }
    FAKE_NEED(take_device_bytes(device_bytes(exec)), CUDA_ERROR_OUT_OF_MEMORY);
    *made = state().execs.make(std::move(exec));
    params.result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return CUDA_SUCCESS;
}

/// The part of the executable that was made of this node; null: none.
CUgraphExec_st::Node* find(CUgraphExec exec, CUgraphNode node) {
    if (!state().execs.has(exec) || !state().nodes.count(node)) return nullptr;
    const auto found = std::ranges::find(exec->nodes, node->id, &CUgraphExec_st::Node::source);
    return found == exec->nodes.end() ? nullptr : &*found;
}

template <class Type>
Type* work_of(CUgraphExec exec, CUgraphNode node) {
    CUgraphExec_st::Node* const found = find(exec, node);
    return found ? std::get_if<Type>(&found->work) : nullptr;
}

template <class Params>
CUresult replace(CUgraphExec exec, CUgraphNode node, const Params* params, CUcontext context) {
    auto* const work = work_of<Params>(exec, node);
    FAKE_NEED(work && params && can_update(*work, *params), CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(context == &state().context, CUDA_ERROR_INVALID_CONTEXT);
    if (const CUresult refusal = check_params(*params)) return refusal;
    *work = *params;
    return CUDA_SUCCESS;
}

bool is_one_row(const CUDA_MEMCPY3D& copy) { return copy.Height == 1 && copy.Depth == 1; }

}  // namespace
}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
    FAKE_CALL(cuGraphInstantiate, context);
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    params.flags = flags;
    return instantiate(exec, graph, params);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
    FAKE_CALL(cuGraphInstantiateWithParams, context);
    FAKE_NEED(params, CUDA_ERROR_INVALID_VALUE);
    return instantiate(exec, graph, *params);
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
    FAKE_CALL(cuGraphExecDestroy, driver);
    FAKE_NEED(state().execs.has(exec), CUDA_ERROR_INVALID_VALUE);
    take_device_bytes(-device_bytes(*exec));
    state().execs.erase(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* params) {
    FAKE_CALL(cuGraphExecKernelNodeSetParams, context);
    auto* const work = work_of<KernelWork>(exec, node);
    FAKE_NEED(work && params, CUDA_ERROR_INVALID_VALUE);
    KernelWork next;
    if (const CUresult refusal = make_kernel_work(*params, work->attributes, next)) return refusal;
    if (const CUresult refusal = check_launchable(next)) return refusal;
    *work = std::move(next);
    return CUDA_SUCCESS;
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context) {
    FAKE_CALL(cuGraphExecMemsetNodeSetParams, context);
    return replace(exec, node, params, context);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D* params, CUcontext context) {
    FAKE_CALL(cuGraphExecMemcpyNodeSetParams, context);
    const auto* const work = work_of<CUDA_MEMCPY3D>(exec, node);
    FAKE_NEED(work && params && is_one_row(*work) && is_one_row(*params), CUDA_ERROR_INVALID_VALUE);
    return replace(exec, node, params, context);
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    FAKE_CALL(cuGraphUpload, context);
    FAKE_NEED(state().execs.has(exec), CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(stream_of(stream), CUDA_ERROR_INVALID_HANDLE);
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
    FAKE_CALL(cuGraphLaunch, context);
    State& s = state();
    FAKE_NEED(s.execs.has(exec), CUDA_ERROR_INVALID_VALUE);
    // A launch in a capture would be a node of a type that the project does not handle.
    if (const CUresult refusal = refuse_captured(stream_of(handle))) return refusal;
    s.clock_ns += s.settings.graph_launch_ns;
    if (exec->nodes.size() > nodes_without_penalty)
        s.clock_ns += s.settings.update_penalty_ns *
                      std::ranges::count_if(exec->nodes, &CUgraphExec_st::Node::updated);
    if (exec->hangs) s.hung = true;
    for (const std::size_t node : exec->order) run(exec->nodes[node].work);
    return CUDA_SUCCESS;
}
