// Parts of a device by green contexts: the driver's functions, found at run time.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "kernels/cuda/host/deal_groups.hpp"
#include "kernels/cuda/plugin/context.hpp"

struct AssayDivision {
    std::vector<CUgreenCtx> contexts;
    std::vector<CUstream> streams;
};

namespace assay::kernels::cuda {
namespace {

constexpr unsigned version = 12050;  // of cuGreenCtxStreamCreate, the newest that is needed
constexpr unsigned usual_group = 8, small_group = 2;

/// The driver's functions by name; whether it has them all.
struct Driver {
    decltype(&cuDeviceGetDevResource) resource_of = nullptr;
    decltype(&cuDevSmResourceSplitByCount) split = nullptr;
    decltype(&cuDevResourceGenerateDesc) describe = nullptr;
    decltype(&cuGreenCtxCreate) create = nullptr;
    decltype(&cuGreenCtxGetDevResource) resource_of_context = nullptr;
    decltype(&cuGreenCtxStreamCreate) create_stream = nullptr;
    decltype(&cuGreenCtxDestroy) destroy = nullptr;
    bool complete = true;

    Driver() {
        find(resource_of, "cuDeviceGetDevResource");
        find(split, "cuDevSmResourceSplitByCount");
        find(describe, "cuDevResourceGenerateDesc");
        find(create, "cuGreenCtxCreate");
        find(resource_of_context, "cuGreenCtxGetDevResource");
        find(create_stream, "cuGreenCtxStreamCreate");
        find(destroy, "cuGreenCtxDestroy");
    }

  private:
    template <class Function>
    void find(Function& function, const char* name) {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult outcome{};
        if (cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &outcome) !=
                cudaSuccess ||
            outcome != cudaDriverEntryPointSuccess)
            complete = false;
        else
            function = reinterpret_cast<Function>(found);
    }
};

const Driver& driver() {
    static const Driver functions;
    return functions;
}

void destroy(AssayDivision& division) {
    for (const CUstream stream : division.streams) {
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
    }
    for (const CUgreenCtx context : division.contexts) driver().destroy(context);
}

struct DestroyDivision {
    void operator()(AssayDivision* division) const {
        destroy(*division);
        delete division;
    }
};

AssayStatus driver_error(AssayContext& context, const char* call, CUresult result) {
    return refuse(context, ASSAY_DEVICE_ERROR,
                  std::string("divide: ") + call + " gives error " +
                      std::to_string(static_cast<int>(result)));
}

/// All groups of one split: parts of several splits would share multiprocessors.
CUresult split_device(int device, unsigned group, std::vector<CUdevResource>& groups) {
    CUdevResource all{};
    if (const CUresult error = driver().resource_of(device, &all, CU_DEV_RESOURCE_TYPE_SM))
        return error;
    unsigned flags = 0;
    if (group < usual_group) flags = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING;
    unsigned count = 0;
    if (const CUresult error = driver().split(nullptr, &count, &all, nullptr, flags, group))
        return error;
    groups.resize(count);
    CUdevResource left{};
    const CUresult error = driver().split(groups.data(), &count, &all, &left, flags, group);
    groups.resize(count);
    return error;
}

/// A green context of the groups, a stream in it, and how many multiprocessors it really has.
AssayStatus make_part(AssayContext& context, std::vector<CUdevResource> groups,
                      AssayDivision& division, AssayPart& part) {
    CUdevResourceDesc description{};
    if (const CUresult error =
            driver().describe(&description, groups.data(), static_cast<unsigned>(groups.size())))
        return driver_error(context, "cuDevResourceGenerateDesc", error);
    CUgreenCtx green{};
    if (const CUresult error =
            driver().create(&green, description, context.device_index, CU_GREEN_CTX_DEFAULT_STREAM))
        return driver_error(context, "cuGreenCtxCreate", error);
    division.contexts.push_back(green);
    CUstream stream{};
    if (const CUresult error = driver().create_stream(&stream, green, CU_STREAM_NON_BLOCKING, 0))
        return driver_error(context, "cuGreenCtxStreamCreate", error);
    division.streams.push_back(stream);
    CUdevResource own{};
    if (const CUresult error = driver().resource_of_context(green, &own, CU_DEV_RESOURCE_TYPE_SM))
        return driver_error(context, "cuGreenCtxGetDevResource", error);
    part = {static_cast<std::int32_t>(own.sm.smCount), stream};
    return ASSAY_OK;
}

}  // namespace

AssayStatus divide(AssayContext* context, AssayPart* parts, std::int32_t count,
                   AssayDivision** division) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    if (!parts || !division || count < 1)
        return refuse(*context, ASSAY_BAD_ARGUMENT, "divide: no parts are asked for");
    const CurrentDevice current(context->device_index);
    if (current.error() != cudaSuccess) return device_error(*context, "divide", current.error());
    if (!driver().complete)
        return refuse(*context, ASSAY_UNSUPPORTED,
                      "divide: the driver has no green contexts with streams; CUDA 12.5 or newer "
                      "brings them");
    std::vector<std::int32_t> asked;
    for (std::int32_t i = 0; i < count; ++i) asked.push_back(parts[i].multiprocessors);
    const bool usual = std::all_of(asked.begin(), asked.end(), [](std::int32_t wanted) {
        return wanted % int(usual_group) == 0;
    });
    std::vector<CUdevResource> groups;
    if (const CUresult error =
            split_device(context->device_index, usual ? usual_group : small_group, groups))
        return driver_error(*context, "cuDevSmResourceSplitByCount", error);
    std::vector<int> sizes;
    for (const CUdevResource& group : groups) sizes.push_back(static_cast<int>(group.sm.smCount));
    const DealtGroups dealt = deal_groups(sizes, asked);
    if (!dealt.why_not.empty())
        return refuse(*context, ASSAY_UNSUPPORTED, "divide: " + dealt.why_not);

    std::unique_ptr<AssayDivision, DestroyDivision> made(new (std::nothrow) AssayDivision);
    if (!made) return refuse(*context, ASSAY_DEVICE_ERROR, "divide: no memory is left");
    std::vector<AssayPart> got(asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
        std::vector<CUdevResource> own;
        for (const int group : dealt.groups[i])
            own.push_back(groups[static_cast<std::size_t>(group)]);
        if (const AssayStatus status = make_part(*context, std::move(own), *made, got[i]);
            status != ASSAY_OK)
            return status;
    }
    std::copy(got.begin(), got.end(), parts);
    *division = made.release();
    return ASSAY_OK;
}

void reunite(AssayContext* context, AssayDivision* division) {
    if (!context || !division) return;
    const CurrentDevice current(context->device_index);
    const std::unique_ptr<AssayDivision, DestroyDivision> ended(division);
}

}  // namespace assay::kernels::cuda
