#include "kernels/cuda/plugin/recording.hpp"

#include <new>

#include "kernels/cuda/plugin/refusals.hpp"

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
