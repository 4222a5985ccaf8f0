// The state of the fake driver and what every entry point does first.
#pragma once

#include <mutex>

#include "impls/foundry/driver/fake/kernels.hpp"
#include "impls/foundry/driver/fake/objects.hpp"
#include "impls/foundry/driver/fake/settings.hpp"

namespace assay::foundry::fake {

struct State {
    Settings settings;
    bool initialised = false;
    std::map<std::string, std::int64_t, std::less<>> counts;
    std::int64_t clock_ns = 0;      ///< virtual
    std::int64_t device_bytes = 0;  ///< taken of the device's memory
    std::uint64_t next_id = 1;      ///< of nodes and captures
    /// What ended the context: every call that needs one returns it.
    CUresult broken = CUDA_SUCCESS;
    bool hung = false;  ///< work was given to the device that will not end

    CUctx_st context;
    CUstream_st legacy_stream;
    Registry<CUlib_st> libraries;
    std::unordered_set<const void*> kernels, functions;  ///< of live libraries
    Registry<CUstream_st> streams;
    Registry<CUevent_st> events;
    Registry<CUgraph_st> graphs;
    std::unordered_set<const CUgraphNode_st*> nodes;  ///< of live graphs
    Registry<CUgraphExec_st> execs;
    std::vector<std::shared_ptr<Capture>> captures;  ///< active
};
State& state();
/// The context that the calling thread has made current.
CUcontext& current_context();

/// Functions of the host by mangled name; they outlive fake_reset().
std::map<std::string, HostKernel, std::less<>>& host_kernels();

enum class Needs { nothing, driver, context };

/// One call of an entry point: holds the driver's lock, counts, and refuses where a fault is due or
/// what the call needs is not there.
class Call {
  public:
    Call(const char* entry_point, Needs needs);
    CUresult refusal = CUDA_SUCCESS;
    /// Never returns, and lets other threads in.
    [[noreturn]] void hang();

  private:
    std::unique_lock<std::recursive_mutex> lock_;
};
#define FAKE_CALL(entry_point, needs)                                                  \
    assay::foundry::fake::Call call(#entry_point, assay::foundry::fake::Needs::needs); \
    if (call.refusal != CUDA_SUCCESS) return call.refusal
/// A condition that a call's arguments must meet.
#define FAKE_NEED(condition, code) \
    if (!(condition)) return code

/// Takes so much of the device's memory (negative: gives back). False: there is not as much left.
bool take_device_bytes(std::int64_t bytes);

// The device's limits.
inline constexpr int most_threads = 1024;              ///< of a block
inline constexpr int default_shared_bytes = 48 << 10;  ///< of a block, unless it asks for more
/// Of a block that asks for more: 227 KiB on sm_90 and sm_100, 163 KiB on sm_80, else 99 KiB.
int most_shared_bytes();

// memory.cpp
/// Whether the device may read and write all of the range.
bool is_device_memory(CUdeviceptr address, std::size_t bytes);
/// Unmaps everything.
void forget_memory();
std::int64_t live_memory(std::string_view what);

// transfers.cpp
CUresult check_params(const CUDA_MEMSET_NODE_PARAMS& memset);
CUresult check_params(const CUDA_MEMCPY3D& copy);
void run_memset(const CUDA_MEMSET_NODE_PARAMS& memset);
void run_memcpy(const CUDA_MEMCPY3D& copy);

// libraries.cpp
/// The kernel that a CUfunction or, in its place, a CUkernel means; null: neither.
CUkernel kernel_of(const void* function_or_kernel);
int function_attribute(const CUkern_st& kernel, CUfunction_attribute attribute);
void load_kernel(CUkern_st& kernel);

// launch.cpp
/// Checks and copies what a launch or a kernel node is given.
CUresult make_kernel_work(const CUDA_KERNEL_NODE_PARAMS& params, LaunchAttributes attributes,
                          KernelWork& work);
/// What can only be said once all attributes are known: clusters, cooperative launches.
CUresult check_launchable(const KernelWork& work);
/// Does the work now. A failure ends the context, as a later call shows.
void run(const Work& work);

// streams.cpp
/// How a kernel is ordered by less than whole kernels.
struct Programmatic {
    bool after = false;  ///< kernels before it need only have let it start
    std::vector<std::pair<CUevent, unsigned char>> records;  ///< events, and its port for each
};
/// Runs the work, or adds it to the stream's capture.
CUresult give(CUstream stream, Work work, const Programmatic& programmatic = {});
/// For calls that may not be made while another work is captured: refuses and ends the capture.
CUresult forbid_in_capture();
/// For calls that need a stream's work to be done: refuses, and ends the capture, where it is only
/// captured.
CUresult refuse_captured(CUstream stream);
/// The stream that a handle means (null: the legacy one); null: none.
CUstream stream_of(CUstream handle);

// graphs.cpp
CUgraphNode add_node(CUgraph graph, Work work);
void add_edge(CUgraph graph, CUgraphNode from, CUgraphNode to, const CUgraphEdgeData& data);
void destroy_graph(CUgraph graph);
CUresult check_work(const Work& work);
/// Attributes that a node has; the others are those of a launch or a stream.
bool is_node_attribute(int id);

// update.cpp
/// Whether an executable's node may take these parameters.
bool can_update(const CUDA_MEMSET_NODE_PARAMS& old, const CUDA_MEMSET_NODE_PARAMS& next);
bool can_update(const CUDA_MEMCPY3D& old, const CUDA_MEMCPY3D& next);

}  // namespace assay::foundry::fake
