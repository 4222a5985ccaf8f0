// Libraries: what real images hold, read by the parsers of method/images. A kernel is launched
// through a CUfunction of the one context, or through its CUkernel in that place.
#include <algorithm>
#include <fstream>
#include <string>

#include "impls/foundry/driver/fake/state.hpp"

namespace assay::foundry::fake {
namespace {

/// The bytes from `code` to the end of what the process may read there: the call gives no length,
/// and a damaged image must not be followed out of it.
std::span<const std::byte> readable_from(const void* code) {
    const auto begin = reinterpret_cast<std::uintptr_t>(code);
    std::uintptr_t end = begin;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::size_t parsed = 0;
        const std::uintptr_t low = std::stoull(line, &parsed, 16);
        const std::string rest = line.substr(parsed + 1);
        const std::uintptr_t high = std::stoull(rest, &parsed, 16);
        if (low <= end && end < high && rest[parsed + 1] == 'r') end = high;
    }
    return {static_cast<const std::byte*>(code), end - begin};
}

/// Code of the same major version runs, of the same or a lower minor one.
bool runs(const ImageEntry& entry) {
    const auto capability = static_cast<std::uint32_t>(state().settings.capability);
    return entry.kind == CodeKind::cubin && entry.sm && *entry.sm <= capability &&
           *entry.sm / 10 == capability / 10;
}

/// The entry of the highest version that runs; null: none.
const ImageEntry* best_entry(const Image& image) {
    const ImageEntry* best = nullptr;
    for (const ImageEntry& entry : image.entries)
        if (runs(entry) && (!best || *entry.sm > *best->sm)) best = &entry;
    return best;
}

CUresult load(const void* code, CUlibrary* library) {
    const std::span<const std::byte> bytes = readable_from(code);
    Image image;
    try {
        image = read_image(bytes);
    } catch (const ImageError&) {
        return CUDA_ERROR_INVALID_IMAGE;
    }
    const ImageEntry* const entry = best_entry(image);
    if (!entry)
        return knows_kernels(image) ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                    : CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    State& s = state();
    const bool lazy = s.settings.lazy_loading != 0;
    if (!lazy && !take_device_bytes(static_cast<std::int64_t>(image.bytes)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUlib_st* const made = s.libraries.make();
    made->code_bytes = lazy ? 0 : image.bytes;
    for (const Kernel& kernel : entry->kernels) {
        made->kernels.push_back(std::make_unique<CUkern_st>());
        CUkern_st& last = *made->kernels.back();
        last.library = made;
        last.image = kernel;
        last.loaded = !lazy;
        s.kernels.insert(&last);
        s.functions.insert(&last.function);
    }
    *library = made;
    return CUDA_SUCCESS;
}

constexpr int cluster_attributes[] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                      CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                      CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};

/// 0 to 2; 3: no attribute of the cluster.
std::size_t cluster_axis(CUfunction_attribute attribute) {
    return static_cast<std::size_t>(
        std::find(std::begin(cluster_attributes), std::end(cluster_attributes), attribute) -
        std::begin(cluster_attributes));
}

int attribute_of(const CUkern_st& kernel, const FunctionAttributes& first,
                 const FunctionAttributes& second, CUfunction_attribute attribute) {
    if (const std::size_t axis = cluster_axis(attribute); axis < 3 && kernel.image.cluster)
        return static_cast<int>((*kernel.image.cluster)[axis]);
    for (const FunctionAttributes* attributes : {&first, &second})
        if (const auto found = attributes->find(attribute); found != attributes->end())
            return found->second;
    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            return most_threads;
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
            return static_cast<int>(state().settings.capability);
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            return default_shared_bytes;
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            return -1;
        default:
            return 0;
    }
}

bool is_attribute(CUfunction_attribute attribute) {
    return attribute >= 0 && attribute < CU_FUNC_ATTRIBUTE_MAX;
}

CUresult set_attribute(const CUkern_st& kernel, FunctionAttributes& attributes,
                       CUfunction_attribute attribute, int value) {
    const auto within = [&](int least, int most) {
        FAKE_NEED(value >= least && value <= most, CUDA_ERROR_INVALID_VALUE);
        attributes[attribute] = value;
        return CUDA_SUCCESS;
    };
    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            return within(0, most_shared_bytes());
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            return within(-1, 100);
        case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
            return within(0, 1);
        case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
            return within(0, CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
            FAKE_NEED(!kernel.image.cluster, CUDA_ERROR_NOT_PERMITTED);
            return within(0, 1 << 16);
        default:
            return CUDA_ERROR_INVALID_VALUE;  // only to be read
    }
}

CUresult param_info(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
    FAKE_NEED(kernel && offset && index < kernel->image.params.size(), CUDA_ERROR_INVALID_VALUE);
    *offset = kernel->image.params[index].offset;
    if (bytes) *bytes = kernel->image.params[index].bytes;
    return CUDA_SUCCESS;
}

/// By a function's handle only.
CUkernel kernel_of_function(CUfunction function) {
    return state().functions.count(function) ? function->kernel : nullptr;
}

}  // namespace

CUkernel kernel_of(const void* handle) {
    if (state().functions.count(handle)) return static_cast<const CUfunc_st*>(handle)->kernel;
    if (!state().kernels.count(handle)) return nullptr;
    return const_cast<CUkernel>(static_cast<const CUkern_st*>(handle));
}

int function_attribute(const CUkern_st& kernel, CUfunction_attribute attribute) {
    return attribute_of(kernel, kernel.function.attributes, kernel.attributes, attribute);
}

void load_kernel(CUkern_st& kernel) {
    constexpr std::int64_t code_bytes = 64 << 10;  // about one kernel's
    if (kernel.loaded || !take_device_bytes(code_bytes)) return;
    kernel.loaded = true;
    kernel.library->code_bytes += code_bytes;
    ++state().counts["kernels loaded lazily"];
}

}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**,
                           unsigned jit_options, CUlibraryOption* options, void**, unsigned count) {
    FAKE_CALL(cuLibraryLoadData, driver);
    FAKE_NEED(library && code && jit_options == 0 && (count == 0 || options),
              CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; ++i)
        FAKE_NEED(options[i] == CU_LIBRARY_BINARY_IS_PRESERVED, CUDA_ERROR_INVALID_VALUE);
    return load(code, library);
}

CUresult cuLibraryUnload(CUlibrary library) {
    FAKE_CALL(cuLibraryUnload, driver);
    State& s = state();
    FAKE_NEED(s.libraries.has(library), CUDA_ERROR_INVALID_VALUE);
    for (const auto& kernel : library->kernels) {
        s.kernels.erase(kernel.get());
        s.functions.erase(&kernel->function);
    }
    take_device_bytes(-static_cast<std::int64_t>(library->code_bytes));
    s.libraries.erase(library);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
    FAKE_CALL(cuLibraryGetKernelCount, driver);
    FAKE_NEED(count, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(state().libraries.has(library), CUDA_ERROR_INVALID_HANDLE);
    *count = static_cast<unsigned>(library->kernels.size());
    return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned most, CUlibrary library) {
    FAKE_CALL(cuLibraryEnumerateKernels, driver);
    FAKE_NEED(kernels || most == 0, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(state().libraries.has(library), CUDA_ERROR_INVALID_HANDLE);
    for (unsigned i = 0; i < most && i < library->kernels.size(); ++i)
        kernels[i] = library->kernels[i].get();
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
    FAKE_CALL(cuKernelGetName, driver);
    FAKE_NEED(name, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(state().kernels.count(kernel), CUDA_ERROR_INVALID_HANDLE);
    *name = kernel->image.name.c_str();
    return CUDA_SUCCESS;
}
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
    FAKE_CALL(cuKernelGetLibrary, driver);
    FAKE_NEED(library, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(state().kernels.count(kernel), CUDA_ERROR_INVALID_HANDLE);
    *library = kernel->library;
    return CUDA_SUCCESS;
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    FAKE_CALL(cuKernelGetFunction, context);
    FAKE_NEED(function, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(state().kernels.count(kernel), CUDA_ERROR_INVALID_HANDLE);
    load_kernel(*kernel);
    *function = &kernel->function;
    return CUDA_SUCCESS;
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
    FAKE_CALL(cuKernelGetParamInfo, driver);
    return param_info(state().kernels.count(kernel) ? kernel : nullptr, index, offset, bytes);
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
    FAKE_CALL(cuKernelGetAttribute, driver);
    FAKE_NEED(value && is_attribute(attribute), CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(state().kernels.count(kernel), CUDA_ERROR_INVALID_HANDLE);
    FAKE_NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    *value = attribute_of(*kernel, kernel->attributes, {}, attribute);
    return CUDA_SUCCESS;
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
    FAKE_CALL(cuKernelSetAttribute, driver);
    FAKE_NEED(state().kernels.count(kernel), CUDA_ERROR_INVALID_HANDLE);
    FAKE_NEED(device == 0, CUDA_ERROR_INVALID_DEVICE);
    return set_attribute(*kernel, kernel->attributes, attribute, value);
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
    FAKE_CALL(cuFuncGetName, context);
    FAKE_NEED(name, CUDA_ERROR_INVALID_VALUE);
    const CUkernel kernel = kernel_of_function(function);
    FAKE_NEED(kernel, CUDA_ERROR_INVALID_HANDLE);
    *name = kernel->image.name.c_str();
    return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
    FAKE_CALL(cuFuncGetParamInfo, context);
    return param_info(kernel_of_function(function), index, offset, bytes);
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
    FAKE_CALL(cuFuncGetAttribute, context);
    FAKE_NEED(value && is_attribute(attribute), CUDA_ERROR_INVALID_VALUE);
    const CUkernel kernel = kernel_of(function);
    FAKE_NEED(kernel, CUDA_ERROR_INVALID_HANDLE);
    *value = function_attribute(*kernel, attribute);
    return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    FAKE_CALL(cuFuncSetAttribute, context);
    const CUkernel kernel = kernel_of(function);
    FAKE_NEED(kernel, CUDA_ERROR_INVALID_HANDLE);
    return set_attribute(*kernel, kernel->function.attributes, attribute, value);
}
