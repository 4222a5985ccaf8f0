// The fake driver's graphs, built explicitly and instantiated; and each call of a whole session
// failing once.
#include <gmock/gmock.h>

#include <map>

#include "tests/foundry/fake_graphs.hpp"

namespace assay::foundry::fake {
namespace {

using testing::ElementsAre;

TEST_F(FakeGraphs, KeepsNodesAndEdgesInTheOrderOfCreation) {
    const CUgraph graph = new_graph();
    std::vector<CUgraphNode> n;
    for (int i = 0; i < 4; ++i) n.push_back(add_set(graph, out + i, i));
    const CUgraphNode from[] = {n[3], n[0], n[0]}, to[] = {n[1], n[2], n[1]};
    const CUgraphEdgeData data[] = {{}, programmatic, {}};
    OK(d.cuGraphAddDependencies(graph, from, to, data, 3));
    EXPECT_EQ(nodes_of(graph), n);
    EXPECT_THAT(edges_of(graph),
                ElementsAre(EdgeOf(3, 1, 0, 0), EdgeOf(0, 2, 1, 1), EdgeOf(0, 1, 0, 0)));
    std::size_t count = 5;
    CUgraphNode some[5], others[5];
    EXPECT_EQ(d.cuGraphGetEdges(graph, some, others, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
    CUgraphEdgeData shown[5];
    OK(d.cuGraphGetEdges(graph, some, others, shown, &count));
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(some[3], nullptr);
    count = 1;
    OK(d.cuGraphGetEdges(graph, some, others, nullptr, &count)) << "the first is a plain one";
    count = 6;
    CUgraphNode all[6];
    OK(d.cuGraphGetNodes(graph, all, &count));
    EXPECT_EQ(count, 4U);
    EXPECT_EQ(all[5], nullptr);
}

TEST_F(FakeGraphs, RefusesBadEdges) {
    const CUgraph graph = new_graph(), elsewhere = new_graph();
    const CUgraphNode a = add_set(graph, out, 1), b = add_set(graph, out, 2, {a});
    const CUgraphNode far = add_set(elsewhere, out, 3);
    CUgraphNode empty = nullptr;
    OK(d.cuGraphAddEmptyNode(&empty, graph, nullptr, 0));
    const auto add = [&](CUgraphNode from, CUgraphNode to, CUgraphEdgeData data = {}) {
        return d.cuGraphAddDependencies(graph, &from, &to, &data, 1);
    };
    EXPECT_EQ(add(a, b), CUDA_ERROR_INVALID_VALUE) << "there already";
    EXPECT_EQ(add(a, a), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(add(a, far), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(add(empty, b, programmatic), CUDA_ERROR_INVALID_VALUE) << "no kernel";
    EXPECT_EQ(add(b, empty, programmatic), CUDA_ERROR_INVALID_VALUE) << "no kernel";
    auto data = programmatic;
    data.from_port = 0;
    EXPECT_EQ(add(b, a, data), CUDA_ERROR_INVALID_VALUE) << "port 0 is of plain edges";
    data = programmatic;
    data.type = 0;
    EXPECT_EQ(add(b, a, data), CUDA_ERROR_INVALID_VALUE);
    data = programmatic;
    data.to_port = 1;
    EXPECT_EQ(add(b, a, data), CUDA_ERROR_INVALID_VALUE);
    data = programmatic;
    data.reserved[4] = 1;
    EXPECT_EQ(add(b, a, data), CUDA_ERROR_INVALID_VALUE);
    const CUgraphNode from[] = {b, a, a}, to[] = {empty, empty, empty};
    EXPECT_EQ(d.cuGraphAddDependencies(graph, from, to, nullptr, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(edges_of(graph).size(), 1U) << "all or nothing";
    OK(d.cuGraphAddDependencies(graph, nullptr, nullptr, nullptr, 0));

    CUgraphNode node = nullptr;
    const CUgraphNode twice[] = {a, a};
    EXPECT_EQ(d.cuGraphAddEmptyNode(&node, graph, twice, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuGraphAddEmptyNode(&node, graph, &far, 1), CUDA_ERROR_INVALID_VALUE);
    OK(d.cuGraphDestroy(elsewhere));
    CUgraphNodeType type{};
    EXPECT_EQ(d.cuGraphNodeGetType(far, &type), CUDA_ERROR_INVALID_VALUE) << "gone";
    EXPECT_EQ(d.cuGraphDestroy(elsewhere), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(FakeGraphs, ShowsParametersInTheFormThatWasSetLast) {
    const CUgraph graph = new_graph();
    const CUgraphNode node = add_set(graph, out, 1.5);
    CUDA_KERNEL_NODE_PARAMS shown{};
    OK(d.cuGraphKernelNodeGetParams(node, &shown));
    EXPECT_EQ(shown.kern, set);
    EXPECT_EQ(shown.func, nullptr);
    EXPECT_EQ(shown.ctx, context);
    ASSERT_NE(shown.kernelParams, nullptr);
    EXPECT_EQ(*static_cast<double**>(shown.kernelParams[0]), out);
    EXPECT_EQ(*static_cast<double*>(shown.kernelParams[1]), 1.5);
    OK(d.cuGraphKernelNodeSetParams(node, &shown)) << "its own memory";

    struct {
        double* to;
        double value;
    } packed{out, 2.5};
    std::size_t bytes = sizeof packed;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS given = shown;
    given.kernelParams = nullptr;
    given.extra = extra;
    CUfunction function = nullptr;
    OK(d.cuKernelGetFunction(&function, set));
    given.func = function;
    OK(d.cuGraphKernelNodeSetParams(node, &given));
    packed.value = 0;
    OK(d.cuGraphKernelNodeGetParams(node, &shown));
    EXPECT_EQ(shown.func, function);
    EXPECT_EQ(shown.kernelParams, nullptr);
    ASSERT_NE(shown.extra, nullptr);
    EXPECT_EQ(shown.extra[0], CU_LAUNCH_PARAM_BUFFER_POINTER);
    EXPECT_EQ(static_cast<double*>(shown.extra[1])[1], 2.5) << "a copy";
    EXPECT_EQ(*static_cast<std::size_t*>(shown.extra[3]), 16U);

    given.kernelParams = shown.extra;
    EXPECT_EQ(d.cuGraphKernelNodeSetParams(node, &given), CUDA_ERROR_INVALID_VALUE) << "both";
    given = set_params(nullptr);
    EXPECT_EQ(d.cuGraphKernelNodeSetParams(node, &given), CUDA_ERROR_INVALID_VALUE) << "neither";
    CUlaunchAttributeValue value{};
    value.cooperative = 1;
    EXPECT_EQ(d.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
              CUDA_ERROR_INVALID_VALUE)
        << "packed parameters";
    EXPECT_EQ(d.cuGraphKernelNodeSetAttribute(
                  node, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, &value),
              CUDA_ERROR_INVALID_VALUE)
        << "of launches";
    value = {};
    value.priority = -3;
    OK(d.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    value = {};
    OK(d.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    EXPECT_EQ(value.priority, -3);
    OK(d.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    EXPECT_EQ(value.clusterDim.x, 1U);
}

TEST_F(FakeGraphs, InstantiatesACopy) {
    const CUgraph graph = new_graph();
    const CUgraphNode first = add_set(graph, out, 1), second = add_set(graph, out, 2, {first});
    const CUgraphExec exec = instantiate(graph);
    double* const to = out + 1;
    double value = 9;
    void* params[] = {const_cast<double**>(&to), &value};
    const auto given = set_params(params);
    OK(d.cuGraphKernelNodeSetParams(first, &given));
    OK(d.cuGraphLaunch(exec, stream));
    EXPECT_EQ(out[0], 2) << "in the order of the edge";
    EXPECT_EQ(out[1], 0) << "as it was";
    OK(d.cuGraphExecKernelNodeSetParams(exec, second, &given));
    OK(d.cuGraphLaunch(exec, stream));
    EXPECT_THAT(std::vector(out, out + 2), ElementsAre(1, 9));
    CUDA_KERNEL_NODE_PARAMS shown{};
    OK(d.cuGraphKernelNodeGetParams(second, &shown));
    EXPECT_EQ(*static_cast<double*>(shown.kernelParams[1]), 2) << "the node stays";
    OK(d.cuGraphDestroy(graph));
    OK(d.cuGraphLaunch(exec, stream)) << "needs its graph no more";
    EXPECT_EQ(d.cuGraphExecKernelNodeSetParams(exec, second, &given), CUDA_ERROR_INVALID_VALUE);

    const CUgraph cyclic = new_graph();
    const CUgraphNode outside = add_set(cyclic, out, 1);
    const CUgraphNode a = add_set(cyclic, out, 1, {outside}), b = add_set(cyclic, out, 2, {a});
    OK(d.cuGraphAddDependencies(cyclic, &b, &a, nullptr, 1));
    CUDA_GRAPH_INSTANTIATE_PARAMS with{};
    CUgraphExec none = nullptr;
    EXPECT_EQ(d.cuGraphInstantiateWithParams(&none, cyclic, &with), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    EXPECT_EQ(with.hErrNode_out, a);
    with.flags = 1 << 10;
    EXPECT_EQ(d.cuGraphInstantiateWithParams(&none, cyclic, &with), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
    EXPECT_EQ(d.cuGraphInstantiate(&none, cyclic, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
              CUDA_ERROR_NOT_SUPPORTED);
    const CUgraph clusters = new_graph();
    CUlaunchAttributeValue attribute{};
    attribute.clusterDim = {16, 1, 1};
    OK(d.cuGraphKernelNodeSetAttribute(add_set(clusters, out, 1),
                                       CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &attribute));
    EXPECT_EQ(d.cuGraphInstantiate(&none, clusters, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST_F(FakeGraphs, ALostEdgeShows) {
    // Without edges the node made last runs first.
    const CUgraph graph = new_graph();
    for (int i = 1; i <= 3; ++i) add_set(graph, out, i);
    OK(d.cuGraphLaunch(instantiate(graph), stream));
    EXPECT_EQ(out[0], 1);
}

TEST_F(FakeGraphs, AppliesTheFirstEdgesDataToAllWhenToldTo) {
    fake.set("bulk_edge_bug");
    const CUgraph graph = new_graph();
    std::vector<CUgraphNode> n;
    for (int i = 0; i < 3; ++i) n.push_back(add_set(graph, out + i, i));
    const CUgraphEdgeData data[] = {programmatic, {}};
    OK(d.cuGraphAddDependencies(graph, &n[0], &n[1], data, 2));
    EXPECT_THAT(edges_of(graph), ElementsAre(EdgeOf(0, 1, 1, 1), EdgeOf(1, 2, 1, 1)));
}

// Every call fails once, at each of its places in a scenario that uses them all: the scenario ends
// there with that result, and what it had made can be given back.

void scenario(const Driver& d, const std::string& image, Cleanup& later) {
    const auto need = [&](CUresult result, const char* call) { check(d, result, call); };
#define NEED(call, ...) need(d.call(__VA_ARGS__), #call)
    CUcontext context = nullptr;
    NEED(cuInit, 0);
    NEED(cuDevicePrimaryCtxRetain, &context, 0);
    later([&] { d.cuDevicePrimaryCtxRelease(0); });
    NEED(cuCtxSetCurrent, context);
    constexpr std::size_t bytes = std::size_t{2} << 20;
    CUdeviceptr at = 0;
    NEED(cuMemAddressReserve, &at, bytes, bytes, 0, 0);
    later([&d, at] { d.cuMemAddressFree(at, bytes); });
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemGenericAllocationHandle handle = 0;
    NEED(cuMemCreate, &handle, bytes, &prop, 0);
    later([&d, handle] { d.cuMemRelease(handle); });
    NEED(cuMemMap, at, bytes, 0, handle, 0);
    later([&d, at] { d.cuMemUnmap(at, bytes); });
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    NEED(cuMemSetAccess, at, bytes, &access, 1);
    CUlibrary library = nullptr;
    NEED(cuLibraryLoadData, &library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    later([&d, library] { d.cuLibraryUnload(library); });
    CUkernel kernels[16] = {}, set = nullptr;
    NEED(cuLibraryEnumerateKernels, kernels, 16, library);
    for (const CUkernel kernel : kernels) {
        const char* name = nullptr;
        if (kernel) NEED(cuKernelGetName, &name, kernel);
        if (name && std::string(name) == mangled) set = kernel;
    }
    CUstream stream = nullptr;
    NEED(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    later([&d, stream] { d.cuStreamDestroy(stream); });
    CUevent event = nullptr;
    NEED(cuEventCreate, &event, 0);
    later([&d, event] { d.cuEventDestroy(event); });
    NEED(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    auto* const to = reinterpret_cast<double*>(at);
    double value = 1;
    void* params[] = {const_cast<double**>(&to), &value};
    for (int i = 0; i < 2; ++i)
        NEED(cuLaunchKernel, reinterpret_cast<CUfunction>(set), 1, 1, 1, 1, 1, 1, 0, stream, params,
             nullptr);
    NEED(cuMemsetD8Async, at, 0, 8, stream);
    CUgraph graph = nullptr;
    NEED(cuStreamEndCapture, stream, &graph);
    later([&d, graph] { d.cuGraphDestroy(graph); });
    CUgraphExec exec = nullptr;
    NEED(cuGraphInstantiate, &exec, graph, 0);
    later([&d, exec] { d.cuGraphExecDestroy(exec); });
    CUgraphExecUpdateResultInfo info{};
    NEED(cuGraphExecUpdate, exec, graph, &info);
    NEED(cuGraphLaunch, exec, stream);
    NEED(cuEventRecord, event, stream);
    NEED(cuStreamSynchronize, stream);
#undef NEED
}

TEST_F(FakeGraphs, EveryCallCanFailAndNothingIsLeft) {
    fake.reset();
    {
        Cleanup later;
        scenario(d, image, later);
        EXPECT_EQ(fake.count("live handles"), 1);
        EXPECT_EQ(fake.count("live execs"), 1);
        EXPECT_EQ(fake.count("live"), 9) << "one of each but allocations";
    }
    EXPECT_EQ(fake.count("live"), 0);
    EXPECT_EQ(fake.count("device bytes"), 0);
    std::map<std::string, std::int64_t> calls;
#define COUNT(name) calls[#name] = fake.count(#name);
    ASSAY_DRIVER_CALLS(COUNT)
#undef COUNT
    int failures = 0;
    for (const auto& [call, count] : calls) {
        if (call.find("Destroy") != call.npos || call.find("Free") != call.npos ||
            call.find("Release") != call.npos || call.find("Unmap") != call.npos ||
            call.find("Unload") != call.npos)
            continue;  // a clean-up that fails leaves something
        for (std::int64_t nth = 1; nth <= count; ++nth) {
            fake.reset();
            fake.fail(call, nth, CUDA_ERROR_UNKNOWN);
            Cleanup later;
            try {
                scenario(d, image, later);
                ADD_FAILURE() << call << " did not fail";
            } catch (const DriverError& error) {
                EXPECT_EQ(error.call, call);
                EXPECT_EQ(error.code, CUDA_ERROR_UNKNOWN);
                ++failures;
            }
            later.now();
            EXPECT_EQ(fake.count("live"), 0) << call << ' ' << nth;
            EXPECT_EQ(fake.count("device bytes"), 0) << call << ' ' << nth;
        }
    }
    EXPECT_GE(failures, 25);
}

}  // namespace
}  // namespace assay::foundry::fake
