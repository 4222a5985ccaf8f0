// The fake driver's updates of executables: what may differ, which nodes are paired, and the ways
// in which real drivers depart from the header.
#include <gmock/gmock.h>

#include <numeric>
#include <random>

#include "tests/foundry/fake_graphs.hpp"

namespace assay::foundry::fake {
namespace {

using testing::ElementsAre;

/// A graph of every type of node that may be updated, and what can be changed of it.
struct Parts {
    CUgraph graph;
    CUgraphNode first, second, fill, rows, copy;
    CUDA_MEMSET_NODE_PARAMS fill_params, rows_params;
    CUDA_MEMCPY3D copy_params;
};

class FakeUpdate : public FakeGraphs {
  protected:
    Parts parts() {
        Parts p{};
        p.graph = new_graph();
        p.first = add_set(p.graph, out, 1);
        p.second = add_set(p.graph, out + 1, 2, {p.first});
        p.fill_params.dst = at(8);
        p.fill_params.elementSize = 4;
        p.fill_params.width = 4;
        p.fill_params.height = 1;
        p.rows_params = p.fill_params;
        p.rows_params.dst = at(16);
        p.rows_params.height = 2;
        p.rows_params.pitch = 32;
        p.copy_params.srcMemoryType = p.copy_params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        p.copy_params.srcDevice = at(1);
        p.copy_params.dstDevice = at(2);
        p.copy_params.WidthInBytes = 8;
        p.copy_params.Height = p.copy_params.Depth = 1;
        EXPECT_EQ(d.cuGraphAddMemsetNode(&p.fill, p.graph, &p.second, 1, &p.fill_params, context),
                  CUDA_SUCCESS);
        EXPECT_EQ(d.cuGraphAddMemsetNode(&p.rows, p.graph, &p.second, 1, &p.rows_params, context),
                  CUDA_SUCCESS);
        const CUgraphNode both[] = {p.fill, p.rows};
        EXPECT_EQ(d.cuGraphAddMemcpyNode(&p.copy, p.graph, both, 2, &p.copy_params, context),
                  CUDA_SUCCESS);
        return p;
    }
    struct Expected {
        CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
        CUgraphNode to_blame = nullptr;
        unsigned long long flags = 0;
    };
    /// Updates an executable of parts() with `changed`. After a refusal it does what it did, after
    /// an update what the new graph does.
    void expect_update(const char* name, CUgraph changed, const Expected& expected) {
        const bool fine = expected.result == CU_GRAPH_EXEC_UPDATE_SUCCESS;
        const CUgraphExec exec = instantiate(parts().graph, expected.flags);
        CUgraphExecUpdateResultInfo info{};
        EXPECT_EQ(d.cuGraphExecUpdate(exec, changed, &info),
                  fine ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
            << name;
        EXPECT_EQ(info.result, expected.result) << name;
        EXPECT_EQ(info.errorNode, expected.to_blame) << name;
        const auto left_by = [&](CUgraphExec launched) {
            std::fill_n(out, 64, 3.25);
            EXPECT_EQ(d.cuGraphLaunch(launched, stream), CUDA_SUCCESS);
            EXPECT_EQ(d.cuStreamSynchronize(stream), CUDA_SUCCESS) << name;
            return std::vector(out, out + 64);
        };
        EXPECT_EQ(left_by(exec), left_by(instantiate(fine ? changed : parts().graph))) << name;
    }
    /// Five kernels with the edges of parts().
    std::vector<CUgraphNode> five_kernels(CUgraph graph, const CUgraphEdgeData& first_edge) {
        std::vector<CUgraphNode> nodes;
        for (int i = 0; i < 5; ++i) nodes.push_back(add_set(graph, out, i));
        const std::size_t edges[][2] = {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}};
        for (const auto& [from, to] : edges) {
            const CUgraphEdgeData data = from == 0 ? first_edge : CUgraphEdgeData{};
            EXPECT_EQ(d.cuGraphAddDependencies(graph, &nodes[from], &nodes[to], &data, 1),
                      CUDA_SUCCESS);
        }
        return nodes;
    }
};

constexpr auto fine = CU_GRAPH_EXEC_UPDATE_SUCCESS;
constexpr auto attributes_changed = CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
constexpr auto params_changed = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
constexpr auto topology_changed = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;

TEST_F(FakeUpdate, KernelsMayChangeButNotHowTheirBlocksArePlaced) {
    Parts same = parts();
    expect_update("nothing", same.graph, {});

    Parts changed = parts();
    auto* to = reinterpret_cast<float*>(out + 3);
    int n = 1;
    Shape shape{to, 0, 0, 0.5};
    void* given[] = {&to, &n, &shape};
    auto of_move = set_params(given);
    of_move.kern = move;
    of_move.gridDimX = 7;
    of_move.sharedMemBytes = 64;
    OK(d.cuGraphKernelNodeSetParams(changed.second, &of_move));
    expect_update("kernel, grid, shared memory, parameters", changed.graph, {});

    using Value = CUlaunchAttributeValue;
    struct Case {
        CUlaunchAttributeID id;
        void (*set)(Value&);
        CUgraphExecUpdateResult result;
        unsigned long long flags = 0;
    };
    constexpr auto by_priority = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    const Case cases[] = {
        {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, [](Value& v) { v.cooperative = 1; }, attributes_changed},
        {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
         [](Value& v) {
             v.clusterDim = {1, 1, 1};
         },
         fine},
        {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
         [](Value& v) {
             v.clusterDim = {2, 1, 1};
         },
         attributes_changed},
        {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
         [](Value& v) {
             v.preferredClusterDim = {2, 1, 1};
         },
         attributes_changed},
        {CU_LAUNCH_ATTRIBUTE_PRIORITY, [](Value& v) { v.priority = -1; }, fine},
        {CU_LAUNCH_ATTRIBUTE_PRIORITY, [](Value& v) { v.priority = -1; }, attributes_changed,
         by_priority},
        {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
         [](Value& v) {
             v.deviceUpdatableKernelNode = {1, nullptr};
         },
         CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED},
    };
    for (const Case& each : cases) {
        Parts with = parts();
        Value value{};
        each.set(value);
        OK(d.cuGraphKernelNodeSetAttribute(with.first, each.id, &value));
        const std::string name = "attribute " + std::to_string(each.id);
        expect_update(name.c_str(), with.graph,
                      {each.result, each.result ? with.first : nullptr, each.flags});
    }
}

TEST_F(FakeUpdate, FillsOfRowsKeepTheirShapeAndCopiesTheirKindsOfMemory) {
    using Fill = CUDA_MEMSET_NODE_PARAMS;
    struct Case {
        const char* name;
        CUDA_MEMSET_NODE_PARAMS Parts::*params;
        void (*change)(Fill&);
        CUgraphExecUpdateResult result;
    };
    const Case cases[] = {
        {"1-D all", &Parts::fill_params, [](Fill& f) { f.dst += 8, f.value = 3, f.width = 2; },
         fine},
        {"1-D to 2-D", &Parts::fill_params, [](Fill& f) { f.height = 2, f.pitch = 16; },
         params_changed},
        {"2-D place", &Parts::rows_params, [](Fill& f) { f.dst += 8, f.value = 3; }, fine},
        {"2-D width", &Parts::rows_params, [](Fill& f) { f.width = 3; }, params_changed},
        {"2-D pitch", &Parts::rows_params, [](Fill& f) { f.pitch = 40; }, params_changed},
        {"2-D to 1-D", &Parts::rows_params, [](Fill& f) { f.height = 1; }, params_changed},
    };
    const auto update = [&](const Case& each, CUgraphExecUpdateResult result) {
        Parts changed = parts();
        const CUgraphNode node = each.params == &Parts::fill_params ? changed.fill : changed.rows;
        each.change(changed.*each.params);
        EXPECT_EQ(d.cuGraphMemsetNodeSetParams(node, &(changed.*each.params)), CUDA_SUCCESS);
        expect_update(each.name, changed.graph, {result, result ? node : nullptr});
    };
    for (const Case& each : cases) update(each, each.result);
    fake.set("refuse_memset_resize");
    update(cases[0], params_changed);

    Parts longer = parts();
    longer.copy_params.WidthInBytes = 16;
    longer.copy_params.srcDevice = at(32);
    OK(d.cuGraphMemcpyNodeSetParams(longer.copy, &longer.copy_params));
    expect_update("copied bytes", longer.graph, {});
    longer.copy_params.srcMemoryType = CU_MEMORYTYPE_HOST;
    longer.copy_params.srcHost = out;
    OK(d.cuGraphMemcpyNodeSetParams(longer.copy, &longer.copy_params));
    expect_update("copied from the host", longer.graph, {params_changed, longer.copy});
}

TEST_F(FakeUpdate, NodesAndEdgesMustBeTheSame) {
    Parts more = parts();
    add_set(more.graph, out, 1, {more.copy});
    expect_update("a node more", more.graph, {topology_changed});
    more = parts();
    OK(d.cuGraphAddDependencies(more.graph, &more.first, &more.fill, nullptr, 1));
    expect_update("an edge more", more.graph, {topology_changed, more.fill});
    const CUgraph apart = new_graph(), kernels = new_graph(), marked = new_graph();
    std::vector<CUgraphNode> nodes;
    for (int i = 0; i < 5; ++i) nodes.push_back(add_set(apart, out, i));
    expect_update("exit nodes", apart, {topology_changed, nodes[1]});
    expect_update("types", kernels,
                  {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, five_kernels(kernels, {})[2]});
    expect_update("edge data", marked, {topology_changed, five_kernels(marked, programmatic)[1]});
}

TEST_F(FakeUpdate, SingleNodesTakeWhatTheHeaderAllows) {
    Parts p = parts();
    const CUgraphExec exec = instantiate(p.graph);
    const auto fill = [&](CUgraphNode node, CUDA_MEMSET_NODE_PARAMS params) {
        return d.cuGraphExecMemsetNodeSetParams(exec, node, &params, context);
    };
    auto params = p.fill_params;
    params.width = 2;
    params.value = 5;
    EXPECT_EQ(fill(p.fill, params), CUDA_SUCCESS);
    params.height = 2;
    EXPECT_EQ(fill(p.fill, params), CUDA_ERROR_INVALID_VALUE);
    params = p.rows_params;
    params.width = 3;
    EXPECT_EQ(fill(p.rows, params), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(fill(p.first, p.fill_params), CUDA_ERROR_INVALID_VALUE) << "a kernel";
    EXPECT_EQ(d.cuGraphExecMemsetNodeSetParams(exec, p.fill, &p.fill_params, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
    auto copy = p.copy_params;
    copy.dstDevice = at(3);
    EXPECT_EQ(d.cuGraphExecMemcpyNodeSetParams(exec, p.copy, &copy, context), CUDA_SUCCESS);
    copy.Height = 2;
    copy.srcPitch = copy.dstPitch = 16;
    EXPECT_EQ(d.cuGraphExecMemcpyNodeSetParams(exec, p.copy, &copy, context),
              CUDA_ERROR_INVALID_VALUE);
    std::fill_n(out, 64, 0.0);
    OK(d.cuGraphLaunch(exec, stream));
    EXPECT_THAT(std::vector(out, out + 4), ElementsAre(1, 2, 0, 2));
    EXPECT_EQ(reinterpret_cast<int*>(out + 8)[1], 5);
    EXPECT_EQ(reinterpret_cast<int*>(out + 9)[0], 0);
}

/// What a node depends on, in the order of the edges, by place.
using Dependencies = std::vector<std::vector<std::size_t>>;

/// Whether some pairing of nodes keeps the order of exit nodes and of each node's dependencies:
/// all are tried.
bool pairs(const Dependencies& exec, const Dependencies& graph) {
    const auto exits = [](const Dependencies& of) {
        std::vector<std::size_t> all;
        for (std::size_t i = 0; i < of.size(); ++i)
            if (std::ranges::none_of(of, [&](const auto& before) {
                    return std::ranges::find(before, i) != before.end();
                }))
                all.push_back(i);
        return all;
    };
    std::vector<std::size_t> partner(graph.size());
    std::iota(partner.begin(), partner.end(), std::size_t{0});
    const auto map = [&](std::vector<std::size_t> places) {
        for (std::size_t& place : places) place = partner[place];
        return places;
    };
    do {
        bool fits = map(exits(graph)) == exits(exec);
        for (std::size_t i = 0; i < graph.size(); ++i)
            fits = fits && map(graph[i]) == exec[partner[i]];
        if (fits) return true;
    } while (std::ranges::next_permutation(partner).found);
    return false;
}

TEST_F(FakeGraphs, PairsNodesByTheOrderOfEdges) {
    std::mt19937 random(65);
    const auto build = [&](const Dependencies& dependencies, double shift) {
        const CUgraph graph = new_graph();
        std::vector<CUgraphNode> nodes;
        for (std::size_t i = 0; i < dependencies.size(); ++i)
            nodes.push_back(add_set(graph, out + i, static_cast<double>(i) + shift));
        for (std::size_t i = 0; i < nodes.size(); ++i)
            for (const std::size_t before : dependencies[i])
                EXPECT_EQ(d.cuGraphAddDependencies(graph, &nodes[before], &nodes[i], nullptr, 1),
                          CUDA_SUCCESS);
        return graph;
    };
    int updates = 0, refusals = 0;
    for (int round = 0; round < 400; ++round) {
        Dependencies exec(2 + random() % 4);
        for (std::size_t i = 1; i < exec.size(); ++i) {
            for (std::size_t before = 0; before < i; ++before)
                if (random() % 2) exec[i].push_back(before);
            std::ranges::shuffle(exec[i], random);
        }
        Dependencies graph = exec;
        auto& changed = graph[random() % graph.size()];
        std::ranges::shuffle(changed, random);
        if (const std::size_t to = static_cast<std::size_t>(&changed - graph.data());
            random() % 2 && !changed.empty())
            if (const std::size_t instead = random() % to;
                std::ranges::find(changed, instead) == changed.end())
                changed[0] = instead;

        const CUgraphExec updated = instantiate(build(exec, 0));
        CUgraphExecUpdateResultInfo info{};
        const CUresult result = d.cuGraphExecUpdate(updated, build(graph, 0.5), &info);
        EXPECT_EQ(result == CUDA_SUCCESS, pairs(exec, graph));
        EXPECT_EQ(info.result, result ? topology_changed : fine);
        ++(result ? refusals : updates);
        OK(d.cuGraphLaunch(updated, stream));
        for (std::size_t i = 0; i < exec.size(); ++i)
            EXPECT_EQ(out[i], static_cast<double>(i) + (result ? 0 : 0.5));
    }
    EXPECT_GT(updates, 50);
    EXPECT_GT(refusals, 50);
}

TEST_F(FakeGraphs, TakesLongerAfterUpdatesOfLargeGraphsWhenToldTo) {
    CUevent begin = nullptr, end = nullptr;
    OK(d.cuEventCreate(&begin, CU_EVENT_DEFAULT));
    OK(d.cuEventCreate(&end, CU_EVENT_DEFAULT));
    const auto launch_us = [&](CUgraphExec exec) {
        EXPECT_EQ(d.cuEventRecord(begin, stream), CUDA_SUCCESS);
        EXPECT_EQ(d.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
        EXPECT_EQ(d.cuEventRecord(end, stream), CUDA_SUCCESS);
        float ms = 0;
        EXPECT_EQ(d.cuEventElapsedTime(&ms, begin, end), CUDA_SUCCESS);
        return ms * 1000;
    };
    fake.set("update_penalty_ns", 100);
    const auto chain = [&](int nodes, int changed) {
        const CUgraph graph = new_graph();
        CUgraphNode before = nullptr;
        for (int i = 0; i < nodes; ++i)
            before = add_set(graph, out, i < changed ? 1 : 0,
                             before ? std::vector{before} : std::vector<CUgraphNode>{});
        return graph;
    };
    struct Case {
        int nodes, changed;
        float more_us;
    };
    for (const auto& [nodes, changed, more_us] :
         {Case{128, 128, 0}, Case{129, 129, 12.9F}, Case{200, 50, 5}, Case{200, 0, 0}}) {
        const CUgraphExec exec = instantiate(chain(nodes, 0));
        const float before = launch_us(exec);
        EXPECT_NEAR(before, 5 + static_cast<float>(nodes), 0.01);
        CUgraphExecUpdateResultInfo info{};
        OK(d.cuGraphExecUpdate(exec, chain(nodes, changed), &info));
        EXPECT_NEAR(launch_us(exec) - before, more_us, 0.01) << nodes;
        OK(d.cuGraphExecUpdate(exec, chain(nodes, 0), &info));
        EXPECT_NEAR(launch_us(exec) - before, more_us, 0.01) << "it stays";
    }
}

TEST_F(FakeUpdate, KeepsThePreferredClusterAndHangsWhenToldTo) {
    fake.set("keep_preferred_cluster");
    fake.set("watchdog");
    const CUgraphExec exec = instantiate(parts().graph);
    Parts changed = parts();
    CUlaunchAttributeValue value{};
    value.preferredClusterDim = {1, 1, 2};
    OK(d.cuGraphKernelNodeSetAttribute(changed.first,
                                       CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, &value));
    CUgraphExecUpdateResultInfo info{};
    EXPECT_EQ(d.cuGraphExecUpdate(exec, changed.graph, &info), CUDA_SUCCESS);
    EXPECT_EQ(d.cuStreamQuery(stream), CUDA_SUCCESS);
    EXPECT_EQ(d.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(d.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(d.cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_TIMEOUT);
    EXPECT_EQ(d.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT) << "the context is lost";
}

TEST_F(FakeUpdate, HangsBehindTheUpdateThatIsNamed) {
    fake.set("hang_at_update", 2);
    fake.set("watchdog");
    const CUgraphExec exec = instantiate(parts().graph), other = instantiate(parts().graph);
    CUgraphExecUpdateResultInfo info{};
    for (const CUgraphExec updated : {exec, other}) {
        OK(d.cuGraphExecUpdate(updated, parts().graph, &info));
        OK(d.cuGraphLaunch(updated, stream));
        EXPECT_EQ(d.cuStreamSynchronize(stream),
                  updated == exec ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_TIMEOUT);
    }
}

}  // namespace
}  // namespace assay::foundry::fake
