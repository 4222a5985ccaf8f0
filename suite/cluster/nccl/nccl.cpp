// NcclContext: how members find each other, and which way a group becomes smaller.
#include "suite/cluster/nccl/nccl.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/cluster/nccl/nccl_communicator.hpp"
#include "suite/cluster/nccl/nccl_handle.hpp"

namespace assay::cluster {

struct NcclContext::Impl : std::enable_shared_from_this<NcclContext::Impl> {
    struct Entry {
        std::shared_ptr<BreakableWait> state = std::make_shared<BreakableWait>();
        std::weak_ptr<NcclHandle> handle;
    };

    std::shared_ptr<NcclHandle> handle_of(const std::string& key) {
        std::lock_guard lock(mutex);
        Entry& entry = entries[key];
        entry.state->throw_if_broken();
        auto handle = std::make_shared<NcclHandle>(setting, entry.state);
        entry.handle = handle;
        return handle;
    }
    std::shared_ptr<BreakableWait> state_of(const std::string& key) {
        std::lock_guard lock(mutex);
        return entries[key].state;
    }

    std::unique_ptr<DeviceCommunicator> connect(const std::string& key, int rank, int size) {
        if (size < 1 || rank < 0 || rank >= size)
            throw std::invalid_argument("make_group(" + key + "): rank " + std::to_string(rank) +
                                        " of a group of " + std::to_string(size));
        auto handle = handle_of(key);
        nccl::UniqueId id{};
        std::string mine;
        if (rank == 0) {
            if (const int result = setting->library->get_unique_id(&id); result != nccl::success)
                throw CommunicatorBroken(std::string("ncclGetUniqueId: ") +
                                         setting->library->error_string(result));
            mine.assign(id.bytes, sizeof id.bytes);
        }
        const std::string said = exchange(key, key, rank, size, mine).front();
        if (said.size() != sizeof id.bytes)
            throw CommunicatorBroken(key + ": rank 0 said no unique id");
        std::memcpy(id.bytes, said.data(), sizeof id.bytes);
        handle->connect(id, rank, size);
        return communicator(std::move(handle), rank, size);
    }

    /// Out of the parent where every survivor can, which spares meeting anew. Whose parent is
    /// broken cannot: it was aborted, so that nothing writes into the buffers of what failed.
    std::unique_ptr<DeviceCommunicator> shrink(NcclHandle& parent, const Shrinking& how) {
        const bool can = setting->library->shrink && parent.usable() && !how.excluded.empty();
        for (const std::string& other :
             exchange(how.key, how.key + "/shrink", how.rank, how.size, can ? "can" : "cannot"))
            if (other != "can") return connect(how.key, how.rank, how.size);
        auto handle = handle_of(how.key);
        handle->adopt(parent.shrink(how.excluded));
        return communicator(std::move(handle), how.rank, how.size);
    }

    /// At `place`, until group `key` is aborted.
    std::vector<std::string> exchange(const std::string& key, const std::string& place, int rank,
                                      int size, const std::string& mine) {
        return rendezvous->exchange(place, rank, size, mine, state_of(key),
                                    setting->options.timeout);
    }

    std::unique_ptr<DeviceCommunicator> communicator(std::shared_ptr<NcclHandle> handle, int rank,
                                                     int size) {
        return make_nccl_communicator(
            std::move(handle), rank, size,
            [self = shared_from_this()](NcclHandle& parent, const Shrinking& how) {
                return self->shrink(parent, how);
            });
    }

    std::shared_ptr<Rendezvous> rendezvous;
    std::shared_ptr<const NcclSetting> setting;
    std::mutex mutex;
    std::map<std::string, Entry> entries;  ///< by key
};

namespace {

NcclSetting found(NcclOptions options, NcclParts parts) {
    if (!parts.cuda) {
        auto cuda = nccl::find_cuda_runtime();
        if (!cuda.runtime)
            throw NotSupportedHere("groups of GPUs are not supported here: " + cuda.why_not);
        parts.cuda = std::move(cuda.runtime);
    }
    if (!parts.library) {
        auto library = nccl::find_library();
        if (!library.library)
            throw NotSupportedHere("groups of GPUs are not supported here: " + library.why_not);
        parts.library = std::move(library.library);
    }
    return {std::move(parts.library), std::move(parts.cuda), options};
}

}  // namespace

std::string nccl_missing() {
    try {
        static_cast<void>(found({}, {}));
        return {};
    } catch (const NotSupportedHere& missing) {
        return missing.what();
    }
}

NcclContext::NcclContext(std::shared_ptr<Rendezvous> rendezvous, NcclOptions options,
                         NcclParts parts)
    : impl_(std::make_shared<Impl>()) {
    impl_->rendezvous = std::move(rendezvous);
    impl_->setting = std::make_shared<NcclSetting>(found(options, std::move(parts)));
    // Its connections ask nobody who they are: they stay on this machine unless somebody says
    // otherwise.
    ::setenv("NCCL_SOCKET_IFNAME", "lo", /*overwrite=*/0);
}

NcclContext::~NcclContext() = default;

std::unique_ptr<Communicator> NcclContext::make_group(const std::string& key, int rank, int size) {
    return impl_->connect(key, rank, size);
}

std::unique_ptr<DeviceCommunicator> NcclContext::make_device_group(const std::string& key, int rank,
                                                                   int size) {
    return impl_->connect(key, rank, size);
}

void NcclContext::abort(const std::string& key, const std::string& why) noexcept {
    try {
        std::shared_ptr<NcclHandle> handle;
        {
            std::lock_guard lock(impl_->mutex);
            Impl::Entry& entry = impl_->entries[key];
            entry.state->break_for(why);
            handle = entry.handle.lock();
        }
        if (handle) handle->abort(why);
    } catch (const std::exception&) {
        // Out of memory for the text; nothing better can be done without throwing.
    }
}

}  // namespace assay::cluster
