// The table of functions that the plug-in hands out, and its two exported names.
#include "kernels/assay_kernels.h"

#include <string>

#include "kernels/cuda/host/check.hpp"
#include "kernels/cuda/host/row_scores_plan.hpp"
#include "kernels/cuda/plugin/context.hpp"
#include "kernels/cuda/plugin/kernels.hpp"
#include "kernels/row_scores/check.hpp"

namespace assay::kernels::cuda {
namespace {

/// A C function around launches: checks, then launches on the context's device.
template <class Call, void (*... launches)(CudaMachine&, const Call&)>
AssayStatus run(AssayContext* context, const Call* call, const char* name) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (!call) return refuse(*context, ASSAY_BAD_ARGUMENT, "the call's description is null");
    if (Verdict verdict = check(*call); verdict.status != ASSAY_OK)
        return refuse(*context, verdict.status, std::move(verdict.why));
    const CurrentDevice current(context->device_index);
    if (current.error() != cudaSuccess) return device_error(*context, name, current.error());
    CudaMachine machine(*context);
    (launches(machine, *call), ...);
    if (machine.error() != cudaSuccess) return device_error(*context, name, machine.error());
    return ASSAY_OK;
}

AssayContext* create(std::int32_t, std::int32_t device, void* stream) {
    return create_context(device, static_cast<cudaStream_t>(stream));
}
const char* last_error(const AssayContext* context) {
    return context ? context->error.c_str()
                   : "the context could not be created: no such device, one older than compute "
                     "capability 8.0, or no memory left on it";
}
AssayStatus synchronise(AssayContext* context) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    const CurrentDevice current(context->device_index);
    const cudaError_t error = cudaStreamSynchronize(context->stream);
    return error == cudaSuccess ? ASSAY_OK : device_error(*context, "synchronise", error);
}

AssayStatus gemv_call(AssayContext* context, const AssayGemv* call) {
    return run<AssayGemv, gemv>(context, call, "gemv");
}
AssayStatus router_call(AssayContext* context, const AssayRouter* call) {
    return run<AssayRouter, router>(context, call, "router");
}
AssayStatus sparse_ffn_call(AssayContext* context, const AssaySparseFfn* call) {
    return run<AssaySparseFfn, gate_up, down>(context, call, "sparse_ffn");
}
AssayStatus dispatch_call(AssayContext* context, const AssayDispatch* call) {
    return run<AssayDispatch, schedule, places>(context, call, "dispatch");
}
AssayStatus shuffle_call(AssayContext* context, const AssayRowMove* call) {
    return run<AssayRowMove, shuffle>(context, call, "shuffle");
}
AssayStatus unshuffle_call(AssayContext* context, const AssayRowMove* call) {
    return run<AssayRowMove, unshuffle>(context, call, "unshuffle");
}
AssayStatus row_scores_call(AssayContext* context, const AssayRowScores* call) {
    return run<AssayRowScores, row_scores>(context, call, "row_scores");
}
AssayStatus weight_gradient_call(AssayContext* context, const AssayWeightGradient* call) {
    return run<AssayWeightGradient, weight_gradient>(context, call, "weight_gradient");
}
std::size_t scores_workspace(const AssayRowScores* call) {
    return call && !shape_refusal(*call) ? row_scores_layout(*call).bytes : 0;
}
std::size_t workspace(const AssayFfn* ffn, std::int32_t batch) {
    return ffn && check_network(*ffn, batch).status == ASSAY_OK
               ? workspace_layout(*ffn, batch).bytes
               : 0;
}

/// The first device, or why there is none.
struct FirstDevice {
    std::string name;  ///< "cuda/sm_90"; empty: none is usable
    std::string lack;

    FirstDevice() {
        constexpr int least_major = 8;
        int driver = 0, devices = 0, major = 0, minor = 0;
        if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
            lack = "there is no NVIDIA driver";
            return;
        }
        cudaError_t error = cudaGetDeviceCount(&devices);
        if (error == cudaSuccess && devices == 0) error = cudaErrorNoDevice;
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
        const std::string capability = std::to_string(major) + "." + std::to_string(minor);
        static_cast<void>(cudaGetLastError());
        if (error != cudaSuccess)
            lack = std::string("there is an NVIDIA driver, but no GPU that works: ") +
                   cudaGetErrorName(error) + ", " + cudaGetErrorString(error);
        else if (major < least_major)
            lack = "the first GPU has compute capability " + capability + ", 8.0 is needed";
        else
            name = "cuda/sm_" + std::to_string(major) + std::to_string(minor);
    }
};
const FirstDevice& first_device() {
    static const FirstDevice device;
    return device;
}

}  // namespace
}  // namespace assay::kernels::cuda

extern "C" __attribute__((visibility("default"))) const AssayKernels* assay_cuda_kernels() {
    using namespace assay::kernels::cuda;
    const std::string& name = first_device().name;
    static const AssayKernels table{ASSAY_KERNELS_VERSION,
                                    name.c_str(),
                                    create,
                                    destroy_context,
                                    last_error,
                                    synchronise,
                                    gemv_call,
                                    router_call,
                                    workspace,
                                    sparse_ffn_call,
                                    allocate,
                                    release,
                                    upload,
                                    download,
                                    copy,
                                    gather,
                                    read_pass,
                                    begin_timing,
                                    end_timing,
                                    begin_recording,
                                    end_recording,
                                    replay,
                                    destroy_recording,
                                    dispatch_call,
                                    shuffle_call,
                                    unshuffle_call,
                                    divide,
                                    reunite,
                                    scores_workspace,
                                    row_scores_call,
                                    weight_gradient_call};
    return name.empty() ? nullptr : &table;
}

extern "C" __attribute__((visibility("default"))) const char* assay_cuda_kernels_lack() {
    return assay::kernels::cuda::first_device().lack.c_str();
}
