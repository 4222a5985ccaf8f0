#include <functional>

#include "impls/foundry/chain/chain.hpp"
#include "impls/foundry/chain/probes.hpp"
#include "impls/foundry/method/memory/region.hpp"
#include "impls/foundry/toy/host_kernels.hpp"

namespace assay::foundry {
namespace {

/// What the calls are made on, beside the stream that captures.
struct Around {
    const Device& device;
    const Driver& driver;
    const Chain& chain;
    CUgraph graph;       ///< another one
    CUgraphExec exec;    ///< of it
    CUstream captured;   ///< the stream that captures
    CUdeviceptr memory;  ///< 8 bytes, to be freed
    std::uint64_t host = 0;
    /// Gives back what a call made, once the capture is over.
    std::vector<std::function<void()>> after = {};
};

struct Call {
    const char* name;
    CUresult (*make)(Around&);
};

const Call calls[] = {
    {"cuMemAlloc",
     [](Around& a) {
         CUdeviceptr made = 0;
         const CUresult result = a.driver.cuMemAlloc(&made, 8);
         if (result == CUDA_SUCCESS) a.after.push_back([&a, made] { a.driver.cuMemFree(made); });
         return result;
     }},
    {"cuMemFree",
     [](Around& a) {
         const CUresult result = a.driver.cuMemFree(a.memory);
         if (result == CUDA_SUCCESS) a.memory = 0;
         return result;
     }},
    {"cuMemCreate",
     [](Around& a) {
         CUmemAllocationProp kind{};
         kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
         kind.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = a.device.handle()};
         CUmemGenericAllocationHandle made = 0;
         const CUresult result = a.driver.cuMemCreate(&made, granule, &kind, 0);
         if (result == CUDA_SUCCESS) a.after.push_back([&a, made] { a.driver.cuMemRelease(made); });
         return result;
     }},
    {"cuMemGetInfo",
     [](Around& a) {
         std::size_t free = 0, total = 0;
         return a.driver.cuMemGetInfo(&free, &total);
     }},
    {"cuMemcpyHtoD", [](Around& a) { return a.driver.cuMemcpyHtoD(a.memory, &a.host, 8); }},
    {"cuMemcpyDtoH", [](Around& a) { return a.driver.cuMemcpyDtoH(&a.host, a.memory, 8); }},
    {"cuLibraryLoadData",
     [](Around& a) {
         CUlibrary made = nullptr;
         const CUresult result = a.driver.cuLibraryLoadData(
             &made, toy::decode_image().data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
         if (result == CUDA_SUCCESS)
             a.after.push_back([&a, made] { a.driver.cuLibraryUnload(made); });
         return result;
     }},
    {"cuCtxSynchronize", [](Around& a) { return a.driver.cuCtxSynchronize(); }},
    {"cuStreamSynchronize, the capturing one",
     [](Around& a) { return a.driver.cuStreamSynchronize(a.captured); }},
    {"cuStreamSynchronize, another",
     [](Around& a) { return a.driver.cuStreamSynchronize(a.chain.stream()); }},
    {"cuStreamQuery, the capturing one",
     [](Around& a) { return a.driver.cuStreamQuery(a.captured); }},
    {"cuStreamCreate",
     [](Around& a) {
         CUstream made = nullptr;
         const CUresult result = a.driver.cuStreamCreate(&made, CU_STREAM_NON_BLOCKING);
         if (result == CUDA_SUCCESS)
             a.after.push_back([&a, made] { a.driver.cuStreamDestroy(made); });
         return result;
     }},
    {"cuEventCreate",
     [](Around& a) {
         CUevent made = nullptr;
         const CUresult result = a.driver.cuEventCreate(&made, CU_EVENT_DEFAULT);
         if (result == CUDA_SUCCESS)
             a.after.push_back([&a, made] { a.driver.cuEventDestroy(made); });
         return result;
     }},
    {"cuGraphInstantiate, another graph",
     [](Around& a) {
         CUgraphExec made = nullptr;
         const CUresult result = a.driver.cuGraphInstantiate(&made, a.graph, 0);
         if (result == CUDA_SUCCESS)
             a.after.push_back([&a, made] { a.driver.cuGraphExecDestroy(made); });
         return result;
     }},
    {"cuGraphLaunch, into the capturing one",
     [](Around& a) { return a.driver.cuGraphLaunch(a.exec, a.captured); }},
    {"cuGraphLaunch, into another",
     [](Around& a) { return a.driver.cuGraphLaunch(a.exec, a.chain.stream()); }},
};

CaptureAnswer answer(Around& around, const Call& call, CUstreamCaptureMode mode,
                     const char* mode_name) {
    const Driver& driver = around.driver;
    check(driver, driver.cuStreamCreate(&around.captured, CU_STREAM_NON_BLOCKING),
          "cuStreamCreate");
    check(driver, driver.cuMemAlloc(&around.memory, 8), "cuMemAlloc");
    check(driver, driver.cuStreamBeginCapture(around.captured, mode), "cuStreamBeginCapture");
    around.chain.launch(Member::a, around.captured);
    CaptureAnswer answer{.call = call.name, .mode = mode_name};
    answer.result = call.make(around);
    CUgraph graph = nullptr;
    const CUresult ended = driver.cuStreamEndCapture(around.captured, &graph);
    answer.ended = ended != CUDA_SUCCESS;
    if (graph != nullptr) driver.cuGraphDestroy(graph);
    for (const auto& undo : around.after) undo();
    around.after.clear();
    check(driver, driver.cuStreamSynchronize(around.chain.stream()), "cuStreamSynchronize");
    if (around.memory != 0) check(driver, driver.cuMemFree(around.memory), "cuMemFree");
    check(driver, driver.cuStreamDestroy(around.captured), "cuStreamDestroy");
    return answer;
}

}  // namespace

std::vector<CaptureAnswer> capture_answers(const Device& device) {
    const Driver& driver = device.driver();
    const Chain chain(device, {.nodes = 1});
    const BuiltGraph other = chain.build(Member::a);
    const Executable executable(driver, other.get());
    Around around{.device = device,
                  .driver = driver,
                  .chain = chain,
                  .graph = other.get(),
                  .exec = executable.get(),
                  .captured = nullptr,
                  .memory = 0};
    std::vector<CaptureAnswer> answers;
    for (const auto& [mode, name] : {std::pair(CU_STREAM_CAPTURE_MODE_GLOBAL, "global"),
                                     {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, "thread_local"},
                                     {CU_STREAM_CAPTURE_MODE_RELAXED, "relaxed"}})
        for (const Call& call : calls) answers.push_back(answer(around, call, mode, name));
    return answers;
}

}  // namespace assay::foundry
