// The fake driver's stream capture: the graph that work becomes, and what ends a capture.
#include <gmock/gmock.h>

#include <cstring>
#include <thread>

#include "tests/foundry/fake_graphs.hpp"

namespace assay::foundry::fake {
namespace {

using testing::ElementsAre;

TEST_F(FakeGraphs, CaptureEqualsTheExplicitGraph) {
    // A chain with a programmatic launch, a fork over another stream, a fill, a copy, an event of
    // the graph's own, and the join.
    const auto give = [&] {
        OK(launch_set(stream, out, 1));
        OK(launch_set(stream, out + 1, 2, {serialised()}));
        OK(d.cuEventRecord(event, stream));
        OK(d.cuStreamWaitEvent(other, event, 0));
        OK(d.cuMemsetD32Async(at(2), 7, 2, other));
        OK(launch_set(other, out + 3, 4, {serialised()}));
        OK(d.cuEventRecord(join, other));
        OK(launch_set(stream, out + 4, 5));
        OK(d.cuStreamWaitEvent(stream, join, 0));
        OK(d.cuMemcpyDtoDAsync(at(5), at(4), sizeof(double), stream));
        OK(d.cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
        OK(d.cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
    };
    begin_capture();
    give();
    EXPECT_EQ(out[0], 0) << "captured, not run";
    const CUgraph captured = end_capture();

    const CUgraph built = new_graph();
    CUDA_MEMSET_NODE_PARAMS fill{};
    fill.dst = at(2);
    fill.value = 7;
    fill.elementSize = 4;
    fill.width = 2;
    fill.height = 1;
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = at(4);
    copy.dstDevice = at(5);
    copy.WidthInBytes = sizeof(double);
    copy.Height = copy.Depth = 1;
    std::vector<CUgraphNode> n(8);
    n[0] = add_set(built, out, 1);
    n[1] = add_set(built, out + 1, 2);
    OK(d.cuGraphAddDependencies(built, &n[0], &n[1], &programmatic, 1));
    OK(d.cuGraphAddMemsetNode(&n[2], built, &n[1], 1, &fill, context));
    n[3] = add_set(built, out + 3, 4, {n[2]});
    n[4] = add_set(built, out + 4, 5, {n[1]});
    const CUgraphNode both[] = {n[4], n[3]};
    OK(d.cuGraphAddMemcpyNode(&n[5], built, both, 2, &copy, context));
    OK(d.cuGraphAddEventRecordNode(&n[6], built, &n[5], 1, event));
    OK(d.cuGraphAddEventWaitNode(&n[7], built, &n[6], 1, event));

    EXPECT_EQ(edges_of(captured), edges_of(built));
    EXPECT_THAT(edges_of(captured),
                ElementsAre(EdgeOf(0, 1, 1, 1), EdgeOf(1, 2, 0, 0), EdgeOf(2, 3, 0, 0),
                            EdgeOf(1, 4, 0, 0), EdgeOf(4, 5, 0, 0), EdgeOf(3, 5, 0, 0),
                            EdgeOf(5, 6, 0, 0), EdgeOf(6, 7, 0, 0)));
    const auto nodes = nodes_of(captured);
    ASSERT_EQ(nodes.size(), n.size());
    for (std::size_t i = 0; i < n.size(); ++i) {
        CUgraphNodeType first{}, second{};
        OK(d.cuGraphNodeGetType(nodes[i], &first));
        OK(d.cuGraphNodeGetType(n[i], &second));
        EXPECT_EQ(first, second) << i;
    }
    CUevent recorded = nullptr;
    OK(d.cuGraphEventRecordNodeGetEvent(nodes[6], &recorded));
    EXPECT_EQ(recorded, event);
    CUDA_MEMCPY3D shown{};
    OK(d.cuGraphMemcpyNodeGetParams(nodes[5], &shown));
    EXPECT_EQ(std::memcmp(&shown, &copy, sizeof copy), 0);

    // All three ways leave the same memory, and an update from one to the other is possible.
    const auto after = [&](const std::function<void()>& run) {
        std::fill_n(out, 64, 0.0);
        run();
        return std::vector(out, out + 6);
    };
    const auto by_graph = [&](CUgraph graph) {
        return after([&] {
            const CUgraphExec exec = instantiate(graph);
            OK(d.cuGraphLaunch(exec, stream));
            OK(d.cuGraphExecDestroy(exec));
        });
    };
    const auto expected = by_graph(built);
    EXPECT_EQ(expected[5], 5);
    EXPECT_EQ(by_graph(captured), expected);
    const CUgraphExec exec = instantiate(built);
    CUgraphExecUpdateResultInfo info{};
    EXPECT_EQ(d.cuGraphExecUpdate(exec, captured, &info), CUDA_SUCCESS);
}

TEST_F(FakeGraphs, ProgrammaticEventsBecomeEdges) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    attribute.value.programmaticEvent = {event, 0, 0};
    CUlaunchAttribute begun{};
    begun.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    begun.value.launchCompletionEvent = {join, 0};
    begin_capture();
    OK(launch_set(stream, out, 1, {attribute, begun}));
    OK(d.cuStreamWaitEvent(other, event, 0));
    CUstreamCaptureStatus status{};
    CUgraph graph = nullptr;
    const CUgraphNode* dependencies = nullptr;
    const CUgraphEdgeData* data = nullptr;
    std::size_t count = 0;
    EXPECT_EQ(
        d.cuStreamGetCaptureInfo(other, &status, nullptr, &graph, &dependencies, nullptr, &count),
        CUDA_ERROR_LOSSY_QUERY);
    OK(d.cuStreamGetCaptureInfo(other, &status, nullptr, &graph, &dependencies, &data, &count));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ASSERT_EQ(count, 1U);
    EXPECT_EQ(data[0].from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    OK(launch_set(other, out + 1, 2));
    OK(d.cuEventRecord(event, other));
    OK(d.cuStreamWaitEvent(stream, event, 0));
    OK(launch_set(stream, out + 2, 3));
    OK(d.cuStreamWaitEvent(stream, join, 0));
    OK(launch_set(stream, out + 3, 3));
    EXPECT_THAT(edges_of(end_capture()),
                ElementsAre(EdgeOf(0, 1, 1, 1), EdgeOf(0, 2, 0, 0), EdgeOf(1, 2, 0, 0),
                            EdgeOf(2, 3, 0, 0), EdgeOf(0, 3, 2, 1)));
}

class FakeCapture : public FakeGraphs {
  protected:
    /// Work that `other` does after that of the capture of `stream`.
    void fork() {
        OK(d.cuEventRecord(event, stream));
        OK(d.cuStreamWaitEvent(other, event, 0));
        OK(launch_set(other, out, 1));
    }
    /// A capture of `stream` in which `does` is done and gives `result`, and whose end gives `end`.
    void expect_capture(const char* name, const std::function<CUresult()>& does, CUresult result,
                        CUresult end) {
        const auto graphs = fake.count("live graphs");
        begin_capture();
        OK(launch_set(stream, out, 1)) << name;
        EXPECT_EQ(does(), result) << name;
        EXPECT_EQ(launch_set(stream, out, 1), end == invalidated ? invalidated : CUDA_SUCCESS)
            << name;
        CUgraph graph = nullptr;
        EXPECT_EQ(d.cuStreamEndCapture(stream, &graph), end) << name;
        EXPECT_EQ(graph != nullptr, end == CUDA_SUCCESS) << name;
        if (graph) {
            OK(d.cuGraphDestroy(graph));
        }
        EXPECT_EQ(fake.count("live graphs"), graphs) << name;
        for (const CUstream after : {stream, other}) {
            CUstreamCaptureStatus status{};
            OK(d.cuStreamGetCaptureInfo(after, &status, nullptr, nullptr, nullptr, nullptr,
                                        nullptr));
            EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE) << name;
        }
    }
    static constexpr auto invalidated = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    static constexpr auto unsupported = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
};

TEST_F(FakeCapture, WhatCannotBeCapturedEndsIt) {
    CUdeviceptr memory = 0;
    const CUgraphExec exec = instantiate(new_graph());
    const std::pair<const char*, std::function<CUresult()>> calls[] = {
        {"allocation", [&] { return d.cuMemAlloc(&memory, 8); }},
        {"copy at once", [&] { return d.cuMemcpyHtoD(at(0), out, 8); }},
        {"its stream's end", [&] { return d.cuStreamSynchronize(stream); }},
        {"its stream's state", [&] { return d.cuStreamQuery(stream); }},
        {"the context's end", [&] { return d.cuCtxSynchronize(); }},
        {"a graph", [&] { return d.cuGraphLaunch(exec, stream); }},
    };
    for (const auto& [name, call] : calls) expect_capture(name, call, unsupported, invalidated);

    CUevent outside = nullptr;
    OK(d.cuEventCreate(&outside, 0));
    OK(d.cuEventRecord(outside, other));
    expect_capture(
        "an event of before", [&] { return d.cuStreamWaitEvent(stream, outside, 0); },
        CUDA_ERROR_STREAM_CAPTURE_ISOLATION, invalidated);
    expect_capture(
        "another capture",
        [&] {
            CUgraph graph = nullptr;
            EXPECT_EQ(d.cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
            EXPECT_EQ(d.cuEventRecord(event, other), CUDA_SUCCESS);
            const CUresult result = d.cuStreamWaitEvent(stream, event, 0);
            EXPECT_EQ(d.cuStreamEndCapture(other, &graph), invalidated);
            return result;
        },
        CUDA_ERROR_STREAM_CAPTURE_MERGE, invalidated);
    expect_capture(
        "end on another stream",
        [&] {
            CUgraph graph = nullptr;
            fork();
            return d.cuStreamEndCapture(other, &graph);
        },
        CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, invalidated);
    expect_capture(
        "unjoined work", [&] { return fork(), CUDA_SUCCESS; }, CUDA_SUCCESS,
        CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

TEST_F(FakeCapture, WhatIsRefusedAloneLeavesIt) {
    expect_capture(
        "another stream's end", [&] { return d.cuStreamSynchronize(other); }, CUDA_SUCCESS,
        CUDA_SUCCESS);
    expect_capture(
        "begun twice",
        [&] { return d.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL); },
        CUDA_ERROR_ILLEGAL_STATE, CUDA_SUCCESS);
    expect_capture(
        "a captured event",
        [&] {
            EXPECT_EQ(d.cuEventRecord(event, stream), CUDA_SUCCESS);
            return d.cuEventSynchronize(event);
        },
        CUDA_ERROR_CAPTURED_EVENT, CUDA_SUCCESS);
    EXPECT_EQ(d.cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_CAPTURED_EVENT) << "afterwards";
    expect_capture(
        "end in another thread",
        [&] {
            CUresult result{};
            std::thread([&] {
                CUgraph graph = nullptr;
                d.cuCtxSetCurrent(context);
                result = d.cuStreamEndCapture(stream, &graph);
            }).join();
            return result;
        },
        CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, CUDA_SUCCESS);
    CUgraph graph = nullptr;
    EXPECT_EQ(d.cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT_EQ(d.cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL), unsupported);
    EXPECT_EQ(d.cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL),
              CUDA_ERROR_INVALID_VALUE);
}

TEST_F(FakeCapture, RelaxedOnesAllowWhatIsOfNoStream) {
    CUstream blocking = nullptr;
    CUdeviceptr memory = 0;
    OK(d.cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(d.cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(d.cuMemAlloc(&memory, 8));
    OK(launch_set(blocking, out, 1));
    EXPECT_EQ(launch_set(nullptr, out, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        << "the legacy stream waits for blocking ones";
    EXPECT_EQ(launch_set(blocking, out, 1), invalidated);
    OK(d.cuStreamDestroy(blocking));
    EXPECT_EQ(fake.count("live graphs"), 0);
}

}  // namespace
}  // namespace assay::foundry::fake
