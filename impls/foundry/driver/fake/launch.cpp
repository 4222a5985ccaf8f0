// Launches of kernels: what the header demands of one, and running its host function.
#include <setjmp.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "impls/foundry/driver/fake/state.hpp"

namespace assay::foundry::fake {
namespace {

std::uint64_t product(const std::array<std::uint32_t, 3>& extent) {
    return std::uint64_t{extent[0]} * extent[1] * extent[2];
}
const CUlaunchAttributeValue* find(const LaunchAttributes& attributes, int id) {
    const auto found = attributes.find(id);
    return found == attributes.end() ? nullptr : &found->second;
}

/// "extra": pairs of a name and a value, ended by CU_LAUNCH_PARAM_END.
CUresult take_packed(void** extra, std::vector<std::byte>& params, std::size_t needed) {
    const void* buffer = nullptr;
    const std::size_t* bytes = nullptr;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = static_cast<const std::size_t*>(extra[1]);
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    FAKE_NEED(buffer && bytes && *bytes >= needed, CUDA_ERROR_INVALID_VALUE);
    const auto* const first = static_cast<const std::byte*>(buffer);
    params.assign(first, first + *bytes);
    return CUDA_SUCCESS;
}

CUresult take_params(const CUDA_KERNEL_NODE_PARAMS& given, KernelWork& work) {
    const std::size_t needed = work.kernel->image.params_bytes();
    FAKE_NEED(!given.kernelParams || !given.extra, CUDA_ERROR_INVALID_VALUE);
    work.packed = given.extra != nullptr;
    if (work.packed) {
        FAKE_NEED(!find(work.attributes, CU_LAUNCH_ATTRIBUTE_COOPERATIVE),
                  CUDA_ERROR_INVALID_VALUE);
        return take_packed(given.extra, work.params, needed);
    }
    FAKE_NEED(given.kernelParams || needed == 0, CUDA_ERROR_INVALID_VALUE);
    work.params.assign(needed, std::byte{});
    std::size_t i = 0;
    for (const Parameter& param : work.kernel->image.params) {
        FAKE_NEED(given.kernelParams[i], CUDA_ERROR_INVALID_VALUE);
        std::memcpy(work.params.data() + param.offset, given.kernelParams[i++], param.bytes);
    }
    return CUDA_SUCCESS;
}

/// [1,1,1] where there is none.
std::array<std::uint32_t, 3> cluster_of(const KernelWork& work) {
    if (const auto* const value = find(work.attributes, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION))
        return {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    std::array<std::uint32_t, 3> cluster;
    constexpr CUfunction_attribute axes[] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                             CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                             CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
    for (std::size_t axis = 0; axis < 3; ++axis)
        cluster[axis] =
            static_cast<std::uint32_t>(std::max(1, function_attribute(*work.kernel, axes[axis])));
    return cluster;
}

CUresult check_clusters(const KernelWork& work) {
    constexpr std::uint64_t portable = 8, largest = 16;
    const auto cluster = cluster_of(work);
    const std::uint64_t blocks = product(cluster);
    if (blocks != 1) {
        const bool more =
            function_attribute(*work.kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
        FAKE_NEED(blocks > 0 && blocks <= (more ? largest : portable) &&
                      state().settings.capability >= 90,
                  CUDA_ERROR_INVALID_CLUSTER_SIZE);
    }
    auto preferred = cluster;
    if (const auto* const value =
            find(work.attributes, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION))
        preferred = {value->preferredClusterDim.x, value->preferredClusterDim.y,
                     value->preferredClusterDim.z};
    for (std::size_t axis = 0; axis < 3; ++axis)
        FAKE_NEED(preferred[axis] > 0 && preferred[axis] % cluster[axis] == 0 &&
                      work.grid[axis] % preferred[axis] == 0,
                  CUDA_ERROR_INVALID_CLUSTER_SIZE);
    return CUDA_SUCCESS;
}

// A kernel that reaches outside of mapped memory comes back here, as an error of the launch.

thread_local sigjmp_buf* landing = nullptr;
struct sigaction earlier_segv, earlier_bus;

void on_fault(int signal, siginfo_t*, void*) {
    if (landing) siglongjmp(*landing, 1);
    // Of another thread: the instruction runs again, now under the handler it had.
    sigaction(signal, signal == SIGSEGV ? &earlier_segv : &earlier_bus, nullptr);
}

/// No objects with destructors here: siglongjmp() passes over them.
CUresult run_guarded(const HostKernel& kernel, const HostLaunch& launch) {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &earlier_segv);
    sigaction(SIGBUS, &action, &earlier_bus);
    sigjmp_buf here;
    volatile CUresult result = CUDA_SUCCESS;
    if (sigsetjmp(here, 1) == 0) {
        landing = &here;
        try {
            kernel.run(launch);
        } catch (...) {
            result = CUDA_ERROR_LAUNCH_FAILED;
        }
    } else {
        result = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    landing = nullptr;
    sigaction(SIGSEGV, &earlier_segv, nullptr);
    sigaction(SIGBUS, &earlier_bus, nullptr);
    return result;
}

CUresult run_kernel(const KernelWork& work) {
    load_kernel(*work.kernel);
    const auto found = host_kernels().find(work.kernel->image.name);
    if (found == host_kernels().end()) return CUDA_ERROR_NOT_FOUND;  // no fault of the caller's
    state().clock_ns += state().settings.kernel_ns;
    ++state().counts["kernels run"];
    return run_guarded(found->second, {.grid = work.grid,
                                       .block = work.block,
                                       .shared_bytes = work.shared_bytes,
                                       .params = work.params});
}

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};

}  // namespace

CUresult make_kernel_work(const CUDA_KERNEL_NODE_PARAMS& given, LaunchAttributes attributes,
                          KernelWork& work) {
    const void* const handle =
        given.func ? static_cast<const void*>(given.func) : static_cast<const void*>(given.kern);
    work.kernel = kernel_of(handle);
    FAKE_NEED(work.kernel, CUDA_ERROR_INVALID_HANDLE);
    FAKE_NEED(given.func || !given.ctx || given.ctx == &state().context,
              CUDA_ERROR_INVALID_CONTEXT);
    work.by_kernel = state().kernels.count(handle) != 0;
    work.attributes = std::move(attributes);
    work.grid = {given.gridDimX, given.gridDimY, given.gridDimZ};
    work.block = {given.blockDimX, given.blockDimY, given.blockDimZ};
    work.shared_bytes = given.sharedMemBytes;
    constexpr std::uint32_t most_x = 0x7fffffff, most_beside = 65535, most_deep = 64;
    FAKE_NEED(
        product(work.grid) > 0 && work.grid[0] <= most_x && work.grid[1] <= most_beside &&
            work.grid[2] <= most_beside && product(work.block) > 0 &&
            product(work.block) <= most_threads && work.block[2] <= most_deep &&
            static_cast<int>(work.shared_bytes) <=
                function_attribute(*work.kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        CUDA_ERROR_INVALID_VALUE);
    return take_params(given, work);
}

CUresult check_launchable(const KernelWork& work) {
    FAKE_NEED(state().kernels.count(work.kernel), CUDA_ERROR_INVALID_HANDLE);
    if (const CUresult refusal = check_clusters(work)) return refusal;
    const auto* const cooperative = find(work.attributes, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    if (!cooperative || !cooperative->cooperative) return CUDA_SUCCESS;
    constexpr std::uint64_t threads_of_multiprocessor = 2048, most_blocks = 32;
    const std::uint64_t at_once =
        std::min(most_blocks, threads_of_multiprocessor / product(work.block)) *
        static_cast<std::uint64_t>(state().settings.multiprocessors);
    FAKE_NEED(product(work.grid) <= at_once, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    return CUDA_SUCCESS;
}

void run(const Work& work) {
    State& s = state();
    if (s.broken != CUDA_SUCCESS || s.hung) return;
    s.broken = std::visit(
        Overloaded{[](const KernelWork& kernel) {
                       const CUresult refusal = check_launchable(kernel);
                       return refusal ? refusal : run_kernel(kernel);
                   },
                   // Memory may have been unmapped since the work was checked.
                   [](const CUDA_MEMSET_NODE_PARAMS& memset) {
                       FAKE_NEED(!check_params(memset), CUDA_ERROR_ILLEGAL_ADDRESS);
                       run_memset(memset);
                       return CUDA_SUCCESS;
                   },
                   [](const CUDA_MEMCPY3D& copy) {
                       FAKE_NEED(!check_params(copy), CUDA_ERROR_ILLEGAL_ADDRESS);
                       run_memcpy(copy);
                       return CUDA_SUCCESS;
                   },
                   [&](const EventRecord& record) {
                       FAKE_NEED(s.events.has(record.event), CUDA_ERROR_INVALID_HANDLE);
                       record.event->recorded = true;
                       record.event->time_ns = s.clock_ns;
                       record.event->capture = nullptr;
                       return CUDA_SUCCESS;
                   },
                   [](const EventWait&) { return CUDA_SUCCESS; },  // all before it has ended
                   [](std::monostate) { return CUDA_SUCCESS; }},
        work);
}

}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

namespace {

CUresult launch(const CUlaunchConfig& config, CUfunction function, void** params, void** extra,
                LaunchAttributes attributes, const Programmatic& programmatic) {
    const CUDA_KERNEL_NODE_PARAMS given{.func = function,
                                        .gridDimX = config.gridDimX,
                                        .gridDimY = config.gridDimY,
                                        .gridDimZ = config.gridDimZ,
                                        .blockDimX = config.blockDimX,
                                        .blockDimY = config.blockDimY,
                                        .blockDimZ = config.blockDimZ,
                                        .sharedMemBytes = config.sharedMemBytes,
                                        .kernelParams = params,
                                        .extra = extra,
                                        .kern = nullptr,
                                        .ctx = nullptr};
    KernelWork work;
    if (const CUresult refusal = make_kernel_work(given, std::move(attributes), work))
        return refusal;
    if (const CUresult refusal = check_launchable(work)) return refusal;
    return give(config.hStream, std::move(work), programmatic);
}

}  // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** params, void** extra) {
    FAKE_CALL(cuLaunchKernel, context);
    return launch({.gridDimX = grid_x,
                   .gridDimY = grid_y,
                   .gridDimZ = grid_z,
                   .blockDimX = block_x,
                   .blockDimY = block_y,
                   .blockDimZ = block_z,
                   .sharedMemBytes = shared_bytes,
                   .hStream = stream,
                   .attrs = nullptr,
                   .numAttrs = 0},
                  function, params, extra, {}, {});
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                          void** extra) {
    FAKE_CALL(cuLaunchKernelEx, context);
    FAKE_NEED(config && (config->numAttrs == 0 || config->attrs), CUDA_ERROR_INVALID_VALUE);
    LaunchAttributes attributes;
    Programmatic programmatic;
    for (const CUlaunchAttribute& attribute : std::span(config->attrs, config->numAttrs)) {
        switch (attribute.id) {
            case CU_LAUNCH_ATTRIBUTE_IGNORE:
                break;
            case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
                programmatic.after = attribute.value.programmaticStreamSerializationAllowed != 0;
                break;
            case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
                programmatic.records.emplace_back(attribute.value.programmaticEvent.event,
                                                  CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
                break;
            case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
                programmatic.records.emplace_back(attribute.value.launchCompletionEvent.event,
                                                  CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
                break;
            default:
                FAKE_NEED(is_node_attribute(attribute.id), CUDA_ERROR_INVALID_VALUE);
                attributes[attribute.id] = attribute.value;
        }
    }
    for (const auto& [event, port] : programmatic.records)
        FAKE_NEED(state().events.has(event) && (event->flags & CU_EVENT_DISABLE_TIMING),
                  CUDA_ERROR_INVALID_HANDLE);
    return launch(*config, function, params, extra, std::move(attributes), programmatic);
}
