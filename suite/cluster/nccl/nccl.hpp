// The NCCL back end: collectives between GPUs, on streams. Neither NCCL's nor CUDA's headers are
// needed to build it; both libraries are found at run time (library.hpp, cuda_runtime.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "suite/cluster/collectives/group_maker.hpp"
#include "suite/cluster/nccl/cuda_runtime.hpp"
#include "suite/cluster/nccl/library.hpp"

namespace assay::cluster {

struct NcclOptions {
    int device = 0;
    /// A cudaStream_t of that device, on which all operations go, after what the caller put there;
    /// null: each group has one of its own, and buffers must be ready before a call.
    void* stream = nullptr;
    std::chrono::milliseconds timeout{30000};  ///< bound on any one operation, make_group included
};

/// A buffer in device memory.
struct DeviceBuffer {
    void* data = nullptr;
    std::size_t count = 0;  ///< elements
};

/// A group of GPUs. Pointers are to device memory, but for exchange_messages(), which takes and
/// gives the host's through a buffer of the device. By default a call returns when its operation is
/// over on the device, as with every Communicator. On failure (an error of NCCL's or of the
/// device's, or nothing for too long) the communicator is aborted and the stream waited for, so
/// that nothing writes into the buffers of a call that has thrown.
class DeviceCommunicator : public Communicator {
  public:
    /// true: calls return as soon as the operation is on the stream; buffers must live, and errors
    /// may be told, until wait(). barrier() and exchange_messages() wait all the same.
    virtual void set_deferred(bool deferred) = 0;
    /// Until all of the stream is over. Throws CommunicatorBroken as a call does.
    virtual void wait() = 0;
    virtual void* stream() const = 0;
    /// all_reduce_sum() of each, with small ones packed together on the device. Counts are the same
    /// on all ranks.
    virtual void all_reduce_sum_each(std::span<const DeviceBuffer> buffers, Dtype) = 0;
};

/// What a context is made of; null: what is found.
struct NcclParts {
    std::shared_ptr<const nccl::Library> library;
    std::shared_ptr<const nccl::CudaRuntime> cuda;
};

/// Why groups of GPUs cannot be made here; empty: they can.
std::string nccl_missing();

/// Groups over one device. Its device becomes the calling thread's. The unique id of a group goes
/// through the rendezvous.
class NcclContext final : public GroupMaker {
  public:
    /// Throws NotSupportedHere: there is no NCCL, no CUDA run time or no device.
    NcclContext(std::shared_ptr<Rendezvous> rendezvous, NcclOptions options, NcclParts parts = {});
    ~NcclContext() override;
    std::unique_ptr<Communicator> make_group(const std::string& key, int rank, int size) override;
    std::unique_ptr<DeviceCommunicator> make_device_group(const std::string& key, int rank,
                                                          int size);
    void abort(const std::string& key, const std::string& why) noexcept override;
    bool in_host_memory() const override { return false; }

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace assay::cluster
