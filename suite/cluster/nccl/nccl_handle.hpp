// One communicator of NCCL with the stream of its operations: every call on it, its failures, its
// end.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "suite/cluster/collectives/breakable_wait.hpp"
#include "suite/cluster/nccl/nccl.hpp"

namespace assay::cluster {

/// What the communicators of a context share.
struct NcclSetting {
    std::shared_ptr<const nccl::Library> library;
    std::shared_ptr<const nccl::CudaRuntime> cuda;
    NcclOptions options;
};

/// Used by one thread; abort() by any. Every function that is not noexcept throws
/// CommunicatorBroken when something fails, takes too long or `state` is broken; the communicator
/// is then aborted, and nothing of it writes any more.
class NcclHandle {
  public:
    NcclHandle(std::shared_ptr<const NcclSetting> setting, std::shared_ptr<BreakableWait> state);
    ~NcclHandle();
    NcclHandle(const NcclHandle&) = delete;
    NcclHandle& operator=(const NcclHandle&) = delete;

    void connect(const nccl::UniqueId& id, int rank, int size);
    /// Takes over what shrink() of another one made.
    void adopt(nccl::Comm comm);

    const nccl::Library& library() const { return *setting_->library; }
    void* stream() const { return stream_; }
    bool usable() const { return !state_->broken(); }

    /// Throws when the group is broken, once nothing of it can write any more.
    void check();
    /// start(comm), which puts something on the stream and gives NCCL's result, and until it is
    /// there.
    void run(const char* what, const std::function<int(nccl::Comm)>& start);
    /// On the stream: within the device, or between it and the host's memory.
    void copy(void* to, const void* from, std::size_t bytes);
    /// Device memory that goes with this. Waits for the stream if one is there already.
    void* at_least(std::size_t bytes);
    /// Until all of the stream is over.
    void wait(const char* what);
    /// Of a group without `excluded` (ascending ranks); what is outstanding is cut off.
    nccl::Comm shrink(std::vector<int> excluded);

    void abort(const std::string& why) noexcept;

  private:
    using Clock = std::chrono::steady_clock;
    void settle(const char* what, int result, Clock::time_point deadline);
    void must(const char* what, int cuda_error);
    [[noreturn]] void fail(const char* what, const std::string& why);
    std::string text_of(int result);
    void end_communicator() noexcept;
    bool quiet() noexcept;
    void leave() noexcept;

    const std::shared_ptr<const NcclSetting> setting_;
    const std::shared_ptr<BreakableWait> state_;
    void* stream_ = nullptr;
    void* memory_ = nullptr;
    std::size_t memory_bytes_ = 0;
    bool outstanding_ = false;  ///< something on the stream has not been waited for
    bool stuck_ = false;        ///< the stream does not end, not even after an abort

    std::mutex mutex_;           ///< of comm_, and of calls on it, which do not block
    nccl::Comm comm_ = nullptr;  ///< null: not connected, or ended
    nccl::Comm made_ = nullptr;  ///< where NCCL puts one that is being made
    nccl::Config config_;
};

}  // namespace assay::cluster
