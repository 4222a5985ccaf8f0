// Streams and events. Work runs when it is given, in order; a stream that captures adds it to a
// graph instead, after the nodes that it would have waited for.
#include <unistd.h>

#include <algorithm>

#include "impls/foundry/driver/fake/state.hpp"

namespace assay::foundry::fake {
namespace {

/// The legacy stream waits for blocking streams, and so cannot be used while one captures.
bool legacy_is_captured() {
    return std::ranges::any_of(state().captures, [](const auto& capture) {
        return !(capture->origin->flags & CU_STREAM_NON_BLOCKING);
    });
}

void invalidate(Capture& capture) { capture.valid = false; }

/// Adds what `more` depends on, each node once.
void join(std::vector<Dependency>& tail, const std::vector<Dependency>& more) {
    for (const Dependency& dependency : more)
        if (std::ranges::find(tail, dependency.node, &Dependency::node) == tail.end())
            tail.push_back(dependency);
}

/// An edge that is programmatic at one of its ends only is a full one.
CUgraphEdgeData edge_data(const Dependency& dependency, const Work& work, bool programmatic) {
    const bool kernels = std::holds_alternative<KernelWork>(work) &&
                         std::holds_alternative<KernelWork>(dependency.node->work);
    if (!kernels) return {};
    CUgraphEdgeData data = dependency.data;
    if (programmatic && data.from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT) {
        data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    }
    return data;
}

CUgraphNode capture_work(CUstream stream, Work work, bool programmatic) {
    const CUgraphNode node = add_node(stream->capture->graph, std::move(work));
    for (const Dependency& dependency : stream->tail)
        add_edge(stream->capture->graph, dependency.node, node,
                 edge_data(dependency, node->work, programmatic));
    stream->tail = {{node, {}}};
    return node;
}

/// Every stream leaves it. The graph is given away, or destroyed with what was captured.
void end(const std::shared_ptr<Capture>& capture, bool keep_graph) {
    capture->active = false;
    capture->graph->captured_into = false;
    if (!keep_graph) destroy_graph(capture->graph);
    std::erase(state().captures, capture);
    for (const auto& [key, stream] : state().streams)
        if (stream->capture == capture) {
            stream->capture = nullptr;
            stream->tail.clear();
        }
}

/// Whether all work of streams that were forked off is waited for by the origin.
bool is_joined(const Capture& capture) {
    std::unordered_set<CUgraphNode> reached;
    std::vector<CUgraphNode> open;
    for (const Dependency& dependency : capture.origin->tail) open.push_back(dependency.node);
    while (!open.empty()) {
        const CUgraphNode node = open.back();
        open.pop_back();
        if (!reached.insert(node).second) continue;
        for (const Dependency& dependency : node->dependencies) open.push_back(dependency.node);
    }
    for (const auto& [key, stream] : state().streams)
        if (stream->capture.get() == &capture)
            for (const Dependency& dependency : stream->tail)
                if (!reached.count(dependency.node)) return false;
    return true;
}

void record_captured(CUevent event, CUstream stream, std::vector<Dependency> dependencies) {
    event->recorded = true;
    event->capture = stream->capture;
    event->dependencies = std::move(dependencies);
}

CUresult record(CUevent event, CUstream handle, unsigned flags) {
    const CUstream stream = stream_of(handle);
    FAKE_NEED(state().events.has(event) && stream, CUDA_ERROR_INVALID_HANDLE);
    const bool external = flags == CU_EVENT_RECORD_EXTERNAL;
    FAKE_NEED((flags == 0 || external) && (!external || stream->capture), CUDA_ERROR_INVALID_VALUE);
    if (!stream->capture || external) return give(handle, EventRecord{event});
    FAKE_NEED(stream->capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    record_captured(event, stream, stream->tail);
    return CUDA_SUCCESS;
}

CUresult wait(CUstream handle, CUevent event, unsigned flags) {
    const CUstream stream = stream_of(handle);
    FAKE_NEED(state().events.has(event) && stream, CUDA_ERROR_INVALID_HANDLE);
    const bool external = flags == CU_EVENT_WAIT_EXTERNAL;
    FAKE_NEED((flags == 0 || external) && (!external || stream->capture), CUDA_ERROR_INVALID_VALUE);
    if (external) return give(handle, EventWait{event});
    const bool captured = event->capture && event->capture->active;
    if (!stream->capture) {
        FAKE_NEED(captured || !event->capture, CUDA_ERROR_CAPTURED_EVENT);
        if (!captured) return CUDA_SUCCESS;  // all before it has ended
        FAKE_NEED(stream != &state().legacy_stream, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        FAKE_NEED(event->capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        stream->capture = event->capture;  // a fork
        stream->tail = event->dependencies;
        return CUDA_SUCCESS;
    }
    FAKE_NEED(stream->capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (event->capture == stream->capture) {
        join(stream->tail, event->dependencies);
        return CUDA_SUCCESS;
    }
    invalidate(*stream->capture);
    if (captured) invalidate(*event->capture);
    return captured ? CUDA_ERROR_STREAM_CAPTURE_MERGE : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

/// For what waits until the stream's work has ended.
CUresult wait_for_end(Call& call) {
    State& s = state();
    if (!s.hung) return s.broken;
    if (!s.settings.watchdog) call.hang();
    s.hung = false;
    return s.broken = CUDA_ERROR_LAUNCH_TIMEOUT;
}

}  // namespace

CUstream stream_of(CUstream handle) {
    if (!handle || handle == CU_STREAM_LEGACY) return &state().legacy_stream;
    return state().streams.has(handle) ? handle : nullptr;
}

CUresult give(CUstream handle, Work work, const Programmatic& programmatic) {
    const CUstream stream = stream_of(handle);
    FAKE_NEED(stream, CUDA_ERROR_INVALID_HANDLE);
    if (stream->capture) {
        FAKE_NEED(stream->capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        const CUgraphNode node = capture_work(stream, std::move(work), programmatic.after);
        for (const auto& [event, port] : programmatic.records)
            record_captured(event, stream,
                            {{node,
                              {.from_port = port,
                               .to_port = 0,
                               .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
                               .reserved = {}}}});
        return CUDA_SUCCESS;
    }
    if (const CUresult refusal = refuse_captured(stream)) return refusal;  // of the legacy stream
    run(work);
    for (const auto& [event, port] : programmatic.records) run(EventRecord{event});
    return CUDA_SUCCESS;
}

CUresult refuse_captured(CUstream stream) {
    FAKE_NEED(stream, CUDA_ERROR_INVALID_HANDLE);
    if (stream->capture) {
        invalidate(*stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (stream == &state().legacy_stream && legacy_is_captured()) {
        for (const auto& capture : state().captures) invalidate(*capture);
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return CUDA_SUCCESS;
}

CUresult forbid_in_capture() {
    const auto forbids = [](const auto& capture) {
        return capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
               (capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
                capture->thread == std::this_thread::get_id());
    };
    bool forbidden = false;
    for (const auto& capture : state().captures)
        if (forbids(capture)) {
            invalidate(*capture);
            forbidden = true;
        }
    return forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
    FAKE_CALL(cuStreamCreate, context);
    FAKE_NEED(stream && flags <= CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
    *stream = state().streams.make();
    (*stream)->flags = flags;
    return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
    FAKE_CALL(cuStreamDestroy, context);
    FAKE_NEED(state().streams.has(stream), CUDA_ERROR_INVALID_HANDLE);
    if (const auto capture = stream->capture) {
        invalidate(*capture);
        if (capture->origin == stream) end(capture, false);
    }
    state().streams.erase(stream);
    return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
    FAKE_CALL(cuStreamSynchronize, context);
    if (const CUresult refusal = refuse_captured(stream_of(stream))) return refusal;
    return wait_for_end(call);
}
CUresult cuStreamQuery(CUstream stream) {
    FAKE_CALL(cuStreamQuery, context);
    if (const CUresult refusal = refuse_captured(stream_of(stream))) return refusal;
    return state().hung ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
    FAKE_CALL(cuCtxSynchronize, context);
    if (const CUresult refusal = forbid_in_capture()) return refusal;
    return wait_for_end(call);
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    FAKE_CALL(cuStreamWaitEvent, context);
    return wait(stream, event, flags);
}

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
    FAKE_CALL(cuStreamBeginCapture, context);
    State& s = state();
    const CUstream stream = stream_of(handle);
    FAKE_NEED(stream, CUDA_ERROR_INVALID_HANDLE);
    FAKE_NEED(stream != &s.legacy_stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    FAKE_NEED(mode <= CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(!stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    const CUgraph graph = s.graphs.make();
    graph->captured_into = true;
    stream->capture = std::make_shared<Capture>(Capture{.id = s.next_id++,
                                                        .mode = mode,
                                                        .origin = stream,
                                                        .graph = graph,
                                                        .thread = std::this_thread::get_id()});
    stream->tail.clear();
    s.captures.push_back(stream->capture);
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
    FAKE_CALL(cuStreamEndCapture, context);
    const CUstream stream = stream_of(handle);
    FAKE_NEED(stream, CUDA_ERROR_INVALID_HANDLE);
    FAKE_NEED(graph, CUDA_ERROR_INVALID_VALUE);
    const auto capture = stream->capture;
    FAKE_NEED(capture, CUDA_ERROR_ILLEGAL_STATE);
    FAKE_NEED(capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
                  capture->thread == std::this_thread::get_id(),
              CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    *graph = nullptr;
    if (capture->origin != stream) {
        invalidate(*capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    const CUresult result = !capture->valid        ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                            : !is_joined(*capture) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                                   : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) *graph = capture->graph;
    end(capture, result == CUDA_SUCCESS);
    return result;
}

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                CUgraph* graph, const CUgraphNode** dependencies,
                                const CUgraphEdgeData** data, size_t* count) {
    FAKE_CALL(cuStreamGetCaptureInfo, context);
    const CUstream stream = stream_of(handle);
    FAKE_NEED(stream, CUDA_ERROR_INVALID_HANDLE);
    FAKE_NEED(status && (!data || dependencies), CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(stream != &state().legacy_stream || !legacy_is_captured(),
              CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    *status = !stream->capture          ? CU_STREAM_CAPTURE_STATUS_NONE
              : !stream->capture->valid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    stream->shown_nodes.clear();
    stream->shown_data.clear();
    for (const Dependency& dependency : stream->tail) {
        FAKE_NEED(!dependencies || data || dependency.data.from_port == 0, CUDA_ERROR_LOSSY_QUERY);
        stream->shown_nodes.push_back(dependency.node);
        stream->shown_data.push_back(dependency.data);
    }
    if (id) *id = stream->capture->id;
    if (graph) *graph = stream->capture->graph;
    if (dependencies) *dependencies = stream->shown_nodes.data();
    if (data) *data = stream->shown_data.data();
    if (count) *count = stream->tail.size();
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
    FAKE_CALL(cuEventCreate, context);
    constexpr unsigned known =
        CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    FAKE_NEED(event && (flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE);
    *event = state().events.make();
    (*event)->flags = flags;
    return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
    FAKE_CALL(cuEventDestroy, context);
    FAKE_NEED(state().events.has(event), CUDA_ERROR_INVALID_HANDLE);
    state().events.erase(event);
    return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    FAKE_CALL(cuEventRecord, context);
    return record(event, stream, CU_EVENT_RECORD_DEFAULT);
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    FAKE_CALL(cuEventRecordWithFlags, context);
    return record(event, stream, flags);
}
CUresult cuEventSynchronize(CUevent event) {
    FAKE_CALL(cuEventSynchronize, context);
    FAKE_NEED(state().events.has(event), CUDA_ERROR_INVALID_HANDLE);
    FAKE_NEED(!event->capture, CUDA_ERROR_CAPTURED_EVENT);
    return wait_for_end(call);
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent first, CUevent last) {
    FAKE_CALL(cuEventElapsedTime, context);
    FAKE_NEED(milliseconds, CUDA_ERROR_INVALID_VALUE);
    for (const CUevent event : {first, last}) {
        FAKE_NEED(state().events.has(event) && !(event->flags & CU_EVENT_DISABLE_TIMING) &&
                      event->recorded,
                  CUDA_ERROR_INVALID_HANDLE);
        FAKE_NEED(!event->capture, CUDA_ERROR_CAPTURED_EVENT);
    }
    FAKE_NEED(!state().hung, CUDA_ERROR_NOT_READY);
    *milliseconds = static_cast<float>(last->time_ns - first->time_ns) / 1e6F;
    return CUDA_SUCCESS;
}
