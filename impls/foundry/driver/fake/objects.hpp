// What the driver's handles point to in the fake: cuda.h declares these structures and leaves them
// open.
#pragma once

#define __CUDA_API_PUSH_VISIBILITY_DEFAULT  // its calls are exported though all else is hidden
#include <cuda.h>
#undef __CUDA_API_PUSH_VISIBILITY_DEFAULT

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "impls/foundry/method/images/image.hpp"

namespace assay::foundry::fake {

/// Launch attributes of a kernel node, by CUlaunchAttributeID.
using LaunchAttributes = std::map<int, CUlaunchAttributeValue>;
using FunctionAttributes = std::map<int, int>;  // by CUfunction_attribute

// What a node does, and what a stream is given.

struct KernelWork {
    CUkernel kernel = nullptr;
    bool by_kernel = false;  ///< given as CUkernel, not as CUfunction
    bool packed = false;     ///< parameters were given in one buffer (`extra`)
    std::array<std::uint32_t, 3> grid{}, block{};
    std::uint32_t shared_bytes = 0;
    std::vector<std::byte> params;
    LaunchAttributes attributes;
};
struct EventRecord {
    CUevent event;
};
struct EventWait {
    CUevent event;
};
using Work = std::variant<KernelWork, CUDA_MEMSET_NODE_PARAMS, CUDA_MEMCPY3D, EventRecord,
                          EventWait, std::monostate>;

/// One end of an edge, as its dependent node keeps it.
struct Dependency {
    CUgraphNode node;
    CUgraphEdgeData data;
};

/// One sequence of captured work, over all streams that take part.
struct Capture {
    std::uint64_t id;
    CUstreamCaptureMode mode;
    CUstream origin;
    CUgraph graph;
    std::thread::id thread;
    bool active = true, valid = true;
};

/// Live objects of a type, owned. A handle that is not in it is refused.
template <class Object>
class Registry {
  public:
    template <class... Arguments>
    Object* make(Arguments&&... arguments) {
        auto object = std::make_unique<Object>(std::forward<Arguments>(arguments)...);
        Object* const handle = object.get();
        objects_.emplace(handle, std::move(object));
        return handle;
    }
    bool has(const Object* handle) const { return objects_.count(handle) != 0; }
    void erase(const Object* handle) { objects_.erase(handle); }
    std::size_t size() const { return objects_.size(); }
    void clear() { objects_.clear(); }
    auto begin() const { return objects_.begin(); }
    auto end() const { return objects_.end(); }

  private:
    std::unordered_map<const Object*, std::unique_ptr<Object>> objects_;
};

}  // namespace assay::foundry::fake

struct CUctx_st {
    int retained = 0;
};
struct CUfunc_st {
    CUkernel kernel;
    assay::foundry::fake::FunctionAttributes attributes;  ///< those set on the function
};
struct CUkern_st {
    CUlibrary library;
    assay::foundry::Kernel image;
    assay::foundry::fake::FunctionAttributes attributes;
    CUfunc_st function{this, {}};  ///< of the one context
    bool loaded = false;
};
struct CUlib_st {
    std::vector<std::unique_ptr<CUkern_st>> kernels;
    std::size_t code_bytes = 0;
};

struct CUevent_st {
    unsigned flags = 0;
    bool recorded = false;
    std::int64_t time_ns = 0;
    /// Of the capture that it was last recorded in, and what a stream that waits will depend on.
    std::shared_ptr<assay::foundry::fake::Capture> capture;
    std::vector<assay::foundry::fake::Dependency> dependencies;
};
struct CUstream_st {
    unsigned flags = 0;
    std::shared_ptr<assay::foundry::fake::Capture> capture;
    std::vector<assay::foundry::fake::Dependency> tail;  ///< what the next node depends on
    std::vector<CUgraphNode> shown_nodes;                ///< cuStreamGetCaptureInfo's arrays
    std::vector<CUgraphEdgeData> shown_data;
};

struct CUgraphNode_st {
    CUgraph graph;
    std::uint64_t id;  ///< unlike an address, never used again
    assay::foundry::fake::Work work;
    std::vector<assay::foundry::fake::Dependency> dependencies;  ///< in the order of creation
    std::vector<void*> shown{};  ///< kernelParams or extra of cuGraphKernelNodeGetParams
    std::size_t shown_bytes = 0;
};
struct CUgraph_st {
    struct Edge {
        CUgraphNode from, to;
        CUgraphEdgeData data;
    };
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  ///< in the order of creation
    std::vector<Edge> edges;                             ///< likewise
    bool captured_into = false;
};
struct CUgraphExec_st {
    struct Node {
        std::uint64_t source;  ///< id of the node it was made of
        assay::foundry::fake::Work work;
        std::vector<std::size_t> dependencies;  ///< places in `nodes`, in the order of edges
        std::vector<CUgraphEdgeData> data;      ///< of these
        bool updated = false;                   ///< changed by cuGraphExecUpdate, ever
    };
    std::vector<Node> nodes;
    std::vector<std::size_t> order;  ///< of execution
    unsigned long long flags = 0;
    bool hangs = false;
};
