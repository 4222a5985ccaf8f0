#include "kernels/cuda/plugin/context.hpp"

#include <new>

#include "kernels/cuda/plugin/memory_passes.hpp"

namespace assay::kernels::cuda {
namespace {

constexpr std::size_t read_unit = 256 * 1024;

AssayStatus copied(AssayContext* context, const char* name, void* to, const void* from,
                   std::size_t bytes, cudaMemcpyKind kind, bool wait) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (bytes == 0) return ASSAY_OK;
    if (!to || !from)
        return refuse(*context, ASSAY_BAD_ARGUMENT, std::string(name) + ": an address is null");
    return on_device(context, name, [&] {
        const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, context->stream);
        return error != cudaSuccess || !wait ? error : cudaStreamSynchronize(context->stream);
    });
}

}  // namespace

void* allocate(AssayContext* context, std::size_t bytes) {
    void* memory = nullptr;
    const AssayStatus status =
        on_device(context, "allocate", [&] { return cudaMalloc(&memory, bytes ? bytes : 1); });
    if (status == ASSAY_OK) return memory;
    static_cast<void>(cudaGetLastError());  // an exhausted memory is no lasting fault
    return nullptr;
}

void release(AssayContext* context, void* memory) {
    static_cast<void>(on_device(context, "release", [&] { return cudaFree(memory); }));
}

AssayStatus upload(AssayContext* context, void* to, const void* from, std::size_t bytes) {
    return copied(context, "upload", to, from, bytes, cudaMemcpyHostToDevice, true);
}

AssayStatus download(AssayContext* context, void* to, const void* from, std::size_t bytes) {
    return copied(context, "download", to, from, bytes, cudaMemcpyDeviceToHost, true);
}

AssayStatus copy(AssayContext* context, void* to, const void* from, std::size_t bytes) {
    return copied(context, "copy", to, from, bytes, cudaMemcpyDeviceToDevice, false);
}

AssayStatus gather(AssayContext* context, void* to, const void* from, const std::int32_t* ids,
                   std::int32_t count, std::size_t piece_bytes) {
    constexpr std::int32_t most_pieces = 65535;  // a grid's second dimension
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (count < 0 || count > most_pieces || piece_bytes % 16 != 0 ||
        (count > 0 && (!to || !from || !ids)))
        return refuse(*context, ASSAY_BAD_ARGUMENT,
                      "gather: addresses must not be null, at most 65535 pieces, each a multiple "
                      "of 16 bytes");
    return on_device(context, "gather", [&] {
        gather_pieces(from, ids, count, piece_bytes, to, context->stream);
        return cudaGetLastError();
    });
}

AssayStatus read_pass(AssayContext* context, const void* from, std::size_t bytes) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (!from || bytes % read_unit != 0)
        return refuse(*context, ASSAY_BAD_ARGUMENT,
                      "read_pass: the address must not be null, the bytes a multiple of 256 KiB");
    return on_device(context, "read_pass", [&] {
        read_memory(from, bytes, context->sink, context->device.multiprocessors, context->stream);
        return cudaGetLastError();
    });
}

AssayStatus begin_timing(AssayContext* context) {
    return on_device(context, "begin_timing",
                     [&] { return cudaEventRecord(context->began, context->stream); });
}

AssayStatus end_timing(AssayContext* context, double* seconds) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (!seconds) return refuse(*context, ASSAY_BAD_ARGUMENT, "end_timing: seconds is null");
    return on_device(context, "end_timing", [&] {
        cudaError_t error = cudaEventRecord(context->ended, context->stream);
        if (error == cudaSuccess) error = cudaEventSynchronize(context->ended);
        float milliseconds = 0;
        if (error == cudaSuccess)
            error = cudaEventElapsedTime(&milliseconds, context->began, context->ended);
        *seconds = static_cast<double>(milliseconds) / 1e3;
        return error;
    });
}

}  // namespace assay::kernels::cuda

struct AssayRecording {
    cudaGraphExec_t executable = nullptr;
};

namespace assay::kernels::cuda {

AssayStatus begin_recording(AssayContext* context) {
    // Relaxed: what else this thread does meanwhile (a framework that allocates memory, say) is its
    // own affair.
    return on_device(context, "begin_recording", [&] {
        return cudaStreamBeginCapture(context->stream, cudaStreamCaptureModeRelaxed);
    });
}

AssayStatus end_recording(AssayContext* context, AssayRecording** recording) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    const AssayStatus status = on_device(context, "end_recording", [&] {
        // Ended in any case: a stream that keeps recording is of no use to anybody.
        cudaError_t error = cudaStreamEndCapture(context->stream, &graph);
        if (error == cudaSuccess) error = cudaGraphInstantiate(&executable, graph, 0);
        if (graph) cudaGraphDestroy(graph);
        return error;
    });
    if (status != ASSAY_OK) return status;
    AssayRecording* const made =
        recording ? new (std::nothrow) AssayRecording{executable} : nullptr;
    if (!made) {
        cudaGraphExecDestroy(executable);
        return refuse(*context, ASSAY_BAD_ARGUMENT,
                      "end_recording: recording is null, or there is no memory");
    }
    *recording = made;
    return ASSAY_OK;
}

AssayStatus replay(AssayContext* context, AssayRecording* recording) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (!recording) return refuse(*context, ASSAY_BAD_ARGUMENT, "replay: recording is null");
    return on_device(context, "replay",
                     [&] { return cudaGraphLaunch(recording->executable, context->stream); });
}

void destroy_recording(AssayContext* context, AssayRecording* recording) {
    if (!recording) return;
    static_cast<void>(on_device(context, "destroy_recording", [&] {
        const cudaError_t error = cudaStreamSynchronize(context->stream);
        cudaGraphExecDestroy(recording->executable);
        return error;
    }));
    delete recording;
}

}  // namespace assay::kernels::cuda
