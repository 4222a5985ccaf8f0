// cuGraphExecUpdate: which node of a graph stands for which of an executable, and what may differ,
// as the header's text on it says (specification 5.3).
#include <algorithm>
#include <cstring>

#include "impls/foundry/driver/fake/state.hpp"

namespace assay::foundry::fake {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

struct Refusal {
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    CUgraphNode node = nullptr, from = nullptr;
};

/// Exit nodes are paired in the order of their creation, and from a pair on its dependencies in the
/// order of the edges.
class Pairing {
  public:
    Pairing(const CUgraphExec_st& exec, const CUgraph_st& graph)
        : exec_(exec),
          graph_(graph),
          of_graph(graph.nodes.size(), none),
          of_exec_(exec.nodes.size(), none) {
        for (const auto& node : graph.nodes) place_.emplace(node.get(), place_.size());
    }

    Refusal run() {
        if (exec_.nodes.size() != graph_.nodes.size()) return changed(nullptr);
        std::vector<bool> exec_inner(exec_.nodes.size()), graph_inner(graph_.nodes.size());
        for (const auto& node : exec_.nodes)
            for (const std::size_t before : node.dependencies) exec_inner[before] = true;
        for (const auto& edge : graph_.edges) graph_inner[place_.at(edge.from)] = true;
        std::size_t in_exec = 0;
        for (std::size_t i = 0; i < graph_inner.size(); ++i) {
            if (graph_inner[i]) continue;
            while (in_exec < exec_inner.size() && exec_inner[in_exec]) ++in_exec;
            if (in_exec == exec_inner.size()) return changed(graph_.nodes[i].get());
            pair(i, in_exec++);
        }
        while (!open_.empty()) {
            const std::size_t i = open_.back();
            open_.pop_back();
            if (const Refusal refusal = pair_dependencies(i); refusal.result) return refusal;
        }
        // A cycle has no exit.
        const auto alone = std::ranges::find(of_graph, none);
        if (alone == of_graph.end()) return {};
        return changed(graph_.nodes[static_cast<std::size_t>(alone - of_graph.begin())].get());
    }

  private:
    const CUgraphExec_st& exec_;
    const CUgraph_st& graph_;

  public:
    std::vector<std::size_t> of_graph;  ///< by place in the graph: the place in the executable

  private:
    static Refusal changed(CUgraphNode node, CUgraphNode from = nullptr) {
        return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, from};
    }
    void pair(std::size_t i, std::size_t in_exec) {
        of_graph[i] = in_exec;
        of_exec_[in_exec] = i;
        open_.push_back(i);
    }
    Refusal pair_dependencies(std::size_t i) {
        const CUgraphNode node = graph_.nodes[i].get();
        const CUgraphExec_st::Node& other = exec_.nodes[of_graph[i]];
        if (node->dependencies.size() != other.dependencies.size()) return changed(node);
        for (std::size_t k = 0; k < other.dependencies.size(); ++k) {
            const Dependency& dependency = node->dependencies[k];
            const std::size_t before = place_.at(dependency.node);
            if (of_graph[before] == none && of_exec_[other.dependencies[k]] == none)
                pair(before, other.dependencies[k]);
            if (of_graph[before] != other.dependencies[k] ||
                std::memcmp(&dependency.data, &other.data[k], sizeof dependency.data) != 0)
                return changed(node, dependency.node);
        }
        return {};
    }

    std::unordered_map<CUgraphNode, std::size_t> place_;
    std::vector<std::size_t> of_exec_, open_;
};

bool is_equal(const LaunchAttributes& a, const LaunchAttributes& b, int id) {
    CUlaunchAttributeValue unset{};
    if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) unset.clusterDim = {1, 1, 1};
    const auto value = [&](const LaunchAttributes& attributes) {
        const auto found = attributes.find(id);
        return found == attributes.end() ? unset : found->second;
    };
    const CUlaunchAttributeValue first = value(a), second = value(b);
    return std::memcmp(&first, &second, sizeof first) == 0;
}

/// Attributes of nodes stay what they are in the executable. Those that say how blocks are placed
/// must be equal; others differ unnoticed.
CUgraphExecUpdateResult check_attributes(CUgraphExec_st& exec, const KernelWork& old,
                                         const KernelWork& next, bool& hangs) {
    const auto differs = [&](int id) { return !is_equal(old.attributes, next.attributes, id); };
    if (differs(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) ||
        old.attributes.count(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE))
        return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    if (differs(CU_LAUNCH_ATTRIBUTE_COOPERATIVE) ||
        differs(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) ||
        differs(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) ||
        ((exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) &&
         differs(CU_LAUNCH_ATTRIBUTE_PRIORITY)))
        return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    if (differs(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION)) {
        if (!state().settings.keep_preferred_cluster)
            return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
        hangs = true;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

template <class Type>
bool same_bytes(const Type& a, const Type& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// What the update makes of a node; `result` where it may not.
struct Next {
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    Work work;
    bool differs = false;
};

Next next_of(CUgraphExec_st& exec, const Work& old, const Work& given, bool& hangs) {
    if (old.index() != given.index()) return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, {}};
    Next next{CU_GRAPH_EXEC_UPDATE_SUCCESS, given};
    if (const auto* const before = std::get_if<KernelWork>(&old)) {
        auto& after = std::get<KernelWork>(next.work);
        next.result = check_attributes(exec, *before, after, hangs);
        after.attributes = before->attributes;
        next.differs = before->kernel != after.kernel || before->grid != after.grid ||
                       before->block != after.block || before->params != after.params ||
                       before->shared_bytes != after.shared_bytes;
    } else if (const auto* const memset = std::get_if<CUDA_MEMSET_NODE_PARAMS>(&old)) {
        const auto& after = std::get<CUDA_MEMSET_NODE_PARAMS>(given);
        next.differs = !same_bytes(*memset, after);
        if (!can_update(*memset, after))
            next.result = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    } else if (const auto* const copy = std::get_if<CUDA_MEMCPY3D>(&old)) {
        const auto& after = std::get<CUDA_MEMCPY3D>(given);
        next.differs = !same_bytes(*copy, after);
        if (!can_update(*copy, after)) next.result = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
    if (!next.result && check_work(next.work))
        next.result = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    return next;
}

/// All or nothing.
Refusal update(CUgraphExec_st& exec, const CUgraph_st& graph) {
    Pairing pairing(exec, graph);
    if (const Refusal refusal = pairing.run(); refusal.result) return refusal;
    std::vector<Next> all;
    bool hangs = false;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        all.push_back(
            next_of(exec, exec.nodes[pairing.of_graph[i]].work, graph.nodes[i]->work, hangs));
        if (all.back().result) return {all.back().result, graph.nodes[i].get()};
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        CUgraphExec_st::Node& node = exec.nodes[pairing.of_graph[i]];
        node.updated |= all[i].differs;
        node.work = std::move(all[i].work);
    }
    exec.hangs |= hangs;
    return {};
}

}  // namespace

bool can_update(const CUDA_MEMSET_NODE_PARAMS& old, const CUDA_MEMSET_NODE_PARAMS& next) {
    const bool same_size = old.width == next.width && old.elementSize == next.elementSize;
    if (old.height > 1) return same_size && old.height == next.height && old.pitch == next.pitch;
    return next.height == 1 && (same_size || !state().settings.refuse_memset_resize);
}

bool can_update(const CUDA_MEMCPY3D& old, const CUDA_MEMCPY3D& next) {
    return old.srcMemoryType == next.srcMemoryType && old.dstMemoryType == next.dstMemoryType;
}

}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
    FAKE_CALL(cuGraphExecUpdate, context);
    FAKE_NEED(info, CUDA_ERROR_INVALID_VALUE);
    *info = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
    FAKE_NEED(state().execs.has(exec) && state().graphs.has(graph) && !graph->captured_into,
              CUDA_ERROR_INVALID_VALUE);
    const Refusal refusal = update(*exec, *graph);
    const std::int64_t updates = state().counts["cuGraphExecUpdate"];
    if (!refusal.result && updates == state().settings.hang_at_update) exec->hangs = true;
    *info = {refusal.result, refusal.node, refusal.from};
    return refusal.result ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS;
}
