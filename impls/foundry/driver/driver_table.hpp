// CUDA's driver as a table of its entry points, so that the same code runs on the real libcuda and
// on the fake one (driver/fake), without linking either (specification 3.1, 6.1).
//
//     const auto driver = open_driver();
//     check(*driver, driver->cuMemAlloc(&address, bytes), "cuMemAlloc");
//
// The un-suffixed names of cuda.h are macros for the newest form of a call (cuMemAlloc is
// cuMemAlloc_v2). They are expanded here, so that members, symbols and types are of that form.
#pragma once

#include <cuda.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

// Every entry point that the project calls, and all that the fake driver exports: X(name).
// clang-format off
#define ASSAY_DRIVER_CALLS(X)                                                                     \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuGetProcAddress)     \
    X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute)                 \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent)                   \
    X(cuCtxSynchronize)                                                                           \
    /* memory */                                                                                  \
    X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemAddressReserve) X(cuMemAddressFree)         \
    X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemUnmap)                                      \
    X(cuMemSetAccess) X(cuMemExportToShareableHandle) X(cuMemImportFromShareableHandle)           \
    X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuMemcpyHtoDAsync)                          \
    X(cuMemcpyDtoDAsync) X(cuMemsetD8Async) X(cuMemsetD32Async) X(cuMemsetD2D8Async)              \
    X(cuMemsetD2D32Async)                                                                         \
    /* libraries and kernels */                                                                   \
    X(cuLibraryLoadData) X(cuLibraryUnload) X(cuLibraryGetKernelCount) X(cuLibraryEnumerateKernels) \
    X(cuKernelGetName) X(cuKernelGetLibrary) X(cuKernelGetFunction) X(cuKernelGetParamInfo)       \
    X(cuKernelGetAttribute) X(cuKernelSetAttribute) X(cuFuncGetName)                              \
    X(cuFuncGetParamInfo) X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuLaunchKernel)           \
    X(cuLaunchKernelEx)                                                                           \
    /* streams and events */                                                                      \
    X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamQuery)                  \
    X(cuStreamWaitEvent)                                                                          \
    X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamGetCaptureInfo) X(cuEventCreate)      \
    X(cuEventDestroy) X(cuEventRecord) X(cuEventRecordWithFlags) X(cuEventSynchronize)            \
    X(cuEventElapsedTime)                                                                         \
    /* graphs */                                                                                  \
    X(cuGraphCreate) X(cuGraphDestroy) X(cuGraphGetNodes) X(cuGraphGetEdges)                      \
    X(cuGraphNodeGetType) X(cuGraphAddDependencies) X(cuGraphAddKernelNode)                       \
    X(cuGraphAddMemsetNode) X(cuGraphAddMemcpyNode) X(cuGraphAddEmptyNode)                        \
    X(cuGraphAddEventRecordNode) X(cuGraphAddEventWaitNode) X(cuGraphKernelNodeGetParams)         \
    X(cuGraphKernelNodeSetParams) X(cuGraphKernelNodeGetAttribute)                                \
    X(cuGraphKernelNodeSetAttribute) X(cuGraphMemsetNodeGetParams) X(cuGraphMemsetNodeSetParams)  \
    X(cuGraphMemcpyNodeGetParams) X(cuGraphMemcpyNodeSetParams) X(cuGraphEventRecordNodeGetEvent) \
    X(cuGraphEventWaitNodeGetEvent)                                                               \
    /* executables */                                                                             \
    X(cuGraphInstantiate) X(cuGraphInstantiateWithParams) X(cuGraphExecDestroy)                   \
    X(cuGraphExecUpdate) X(cuGraphExecKernelNodeSetParams) X(cuGraphExecMemsetNodeSetParams)      \
    X(cuGraphExecMemcpyNodeSetParams) X(cuGraphUpload) X(cuGraphLaunch)
// clang-format on

namespace assay::foundry {

/// The entry points of one opened library. It stays loaded until the process ends: a driver cannot
/// be unloaded while threads or exit handlers of its own may still run.
struct Driver {
    std::filesystem::path file;  ///< the library that was opened
    void* handle = nullptr;      ///< dlopen's
#define ASSAY_MEMBER(name) decltype(&::name) name = nullptr;
    ASSAY_DRIVER_CALLS(ASSAY_MEMBER)
#undef ASSAY_MEMBER
};

/// Opens `library` (a name that the loader searches for, or a path) and resolves every entry point;
/// calls none. Throws NotSupportedHere when the library cannot be loaded or lacks entry points.
std::shared_ptr<const Driver> open_driver(const std::filesystem::path& library = "libcuda.so.1");

/// A call that did not succeed: "cuMemMap: CUDA_ERROR_INVALID_VALUE (invalid argument)".
class DriverError : public std::runtime_error {
  public:
    DriverError(CUresult result, std::string name_of_result, std::string_view explanation,
                std::string_view called);

    CUresult code;
    std::string name;  ///< "CUDA_ERROR_INVALID_VALUE"
    std::string call;  ///< "cuMemMap"
};

/// Throws DriverError unless `result` is CUDA_SUCCESS.
void check(const Driver& driver, CUresult result, std::string_view call);

}  // namespace assay::foundry
