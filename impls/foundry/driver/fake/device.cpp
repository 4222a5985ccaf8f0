// The driver itself, its one device and that device's one context.
#include <cstring>
#include <string_view>

#include "impls/foundry/driver/fake/state.hpp"

#include "impls/foundry/driver/driver_table.hpp"

namespace assay::foundry::fake {
namespace {

struct Result {
    CUresult code;
    const char *name, *explanation;
};
#define ASSAY_RESULT(name, explanation) \
    Result { name, #name, explanation }
constexpr Result results[] = {
    ASSAY_RESULT(CUDA_SUCCESS, "no error"),
    ASSAY_RESULT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ASSAY_RESULT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ASSAY_RESULT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ASSAY_RESULT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    ASSAY_RESULT(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ASSAY_RESULT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ASSAY_RESULT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ASSAY_RESULT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ASSAY_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution"),
    ASSAY_RESULT(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found"),
    ASSAY_RESULT(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    ASSAY_RESULT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ASSAY_RESULT(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in this state"),
    ASSAY_RESULT(CUDA_ERROR_LOSSY_QUERY, "the query would lose information"),
    ASSAY_RESULT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ASSAY_RESULT(CUDA_ERROR_NOT_READY, "device not ready"),
    ASSAY_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ASSAY_RESULT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    ASSAY_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    ASSAY_RESULT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ASSAY_RESULT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    ASSAY_RESULT(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    ASSAY_RESULT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ASSAY_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                 "operation not permitted when stream is capturing"),
    ASSAY_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                 "operation failed due to a previous error during capture"),
    ASSAY_RESULT(CUDA_ERROR_STREAM_CAPTURE_MERGE,
                 "operation would result in a merge of separate capture sequences"),
    ASSAY_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream"),
    ASSAY_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    ASSAY_RESULT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                 "dependency created on uncaptured work in another stream"),
    ASSAY_RESULT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                 "operation would make the legacy stream depend on a capturing blocking stream"),
    ASSAY_RESULT(CUDA_ERROR_CAPTURED_EVENT,
                 "operation not permitted on an event last recorded in a capturing stream"),
    ASSAY_RESULT(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                 "attempt to terminate a thread-local capture sequence from another thread"),
    ASSAY_RESULT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                 "the graph update was not performed because it included changes which violated "
                 "constraints specific to instantiated graph update"),
    ASSAY_RESULT(CUDA_ERROR_INVALID_CLUSTER_SIZE, "cluster misconfiguration"),
    ASSAY_RESULT(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef ASSAY_RESULT
const Result* find(CUresult code) {
    for (const Result& result : results)
        if (result.code == code) return &result;
    return nullptr;
}

/// By the name that cuGetProcAddress takes.
struct EntryPoint {
    std::string_view name;
    void* function;
};
#define ASSAY_ENTRY(name) EntryPoint{#name, reinterpret_cast<void*>(&::name)},
const EntryPoint entry_points[] = {ASSAY_DRIVER_CALLS(ASSAY_ENTRY)};
#undef ASSAY_ENTRY

/// The version of CUDA that gave an entry point the form that the fake has. Those not named here
/// have it since before 12.0.
int version_of(std::string_view name) {
    constexpr std::pair<std::string_view, int> changed[] = {
        {"cuGetProcAddress", 12000},
        {"cuGraphAddKernelNode", 12000},
        {"cuGraphKernelNodeGetParams", 12000},
        {"cuGraphKernelNodeSetParams", 12000},
        {"cuGraphExecKernelNodeSetParams", 12000},
        {"cuGraphExecUpdate", 12000},
        {"cuLibraryLoadData", 12000},
        {"cuStreamGetCaptureInfo", 12030},
        {"cuGraphGetEdges", 12030},
        {"cuGraphAddDependencies", 12030},
        {"cuEventElapsedTime", 12080},
    };
    for (const auto& [entry_point, version] : changed)
        if (entry_point == name) return version;
    return 11000;
}

}  // namespace
}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

CUresult cuInit(unsigned flags) {
    FAKE_CALL(cuInit, nothing);
    FAKE_NEED(flags == 0, CUDA_ERROR_INVALID_VALUE);
    state().initialised = true;
    return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
    FAKE_CALL(cuDriverGetVersion, nothing);
    FAKE_NEED(version, CUDA_ERROR_INVALID_VALUE);
    *version = static_cast<int>(state().settings.driver_version);
    return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult code, const char** name) {
    FAKE_CALL(cuGetErrorName, nothing);
    FAKE_NEED(name, CUDA_ERROR_INVALID_VALUE);
    const Result* const found = find(code);
    *name = found ? found->name : nullptr;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult code, const char** explanation) {
    FAKE_CALL(cuGetErrorString, nothing);
    FAKE_NEED(explanation, CUDA_ERROR_INVALID_VALUE);
    const Result* const found = find(code);
    *explanation = found ? found->explanation : nullptr;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
    FAKE_CALL(cuGetProcAddress, nothing);
    FAKE_NEED(symbol && function, CUDA_ERROR_INVALID_VALUE);
    *function = nullptr;
    CUdriverProcAddressQueryResult answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    for (const EntryPoint& entry_point : entry_points) {
        if (entry_point.name != symbol) continue;
        if (version < version_of(symbol)) {
            answer = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        } else {
            answer = CU_GET_PROC_ADDRESS_SUCCESS;
            *function = entry_point.function;
        }
    }
    if (status) *status = answer;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuDeviceGetCount(int* count) {
    FAKE_CALL(cuDeviceGetCount, driver);
    FAKE_NEED(count, CUDA_ERROR_INVALID_VALUE);
    *count = 1;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    FAKE_CALL(cuDeviceGet, driver);
    FAKE_NEED(device, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(ordinal == 0, CUDA_ERROR_INVALID_DEVICE);
    *device = 0;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
    FAKE_CALL(cuDeviceGetName, driver);
    FAKE_NEED(name && bytes > 0, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    const std::string& text = state().settings.device_name;
    const auto length = std::min(text.size(), static_cast<std::size_t>(bytes) - 1);
    std::memcpy(name, text.data(), length);
    name[length] = '\0';
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    FAKE_CALL(cuDeviceGetAttribute, driver);
    FAKE_NEED(value, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    const Settings& settings = state().settings;
    const auto answer = [&](std::int64_t is) {
        *value = static_cast<int>(is);
        return CUDA_SUCCESS;
    };
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            return answer(settings.capability / 10);
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            return answer(settings.capability % 10);
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            return answer(settings.multiprocessors);
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
            return answer(32);
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            return answer(most_threads);
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
            return answer(default_shared_bytes);
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
            return answer(most_shared_bytes());
        case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
            return answer(settings.capability >= 90);
        case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
        case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
            return answer(1);
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    FAKE_CALL(cuDevicePrimaryCtxRetain, driver);
    FAKE_NEED(context, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    ++state().context.retained;
    *context = &state().context;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    FAKE_CALL(cuDevicePrimaryCtxRelease, driver);
    FAKE_NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    FAKE_NEED(state().context.retained > 0, CUDA_ERROR_INVALID_CONTEXT);
    // A context that an error ended makes place for a new one; what hangs stays.
    if (--state().context.retained == 0) state().broken = CUDA_SUCCESS;
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
    FAKE_CALL(cuCtxSetCurrent, driver);
    FAKE_NEED(!context || (context == &state().context && context->retained > 0),
              CUDA_ERROR_INVALID_CONTEXT);
    current_context() = context;
    return CUDA_SUCCESS;
}
