#include "suite/cluster/nccl/nccl_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace assay::cluster {
namespace {

/// For how long the end of a communicator, or of its operations after an abort, is waited for.
constexpr std::chrono::seconds patience{5};

/// Between two looks: short at first, for operations of microseconds.
class Pause {
  public:
    void operator()() {
        const auto waited = Clock::now() - begun_;
        if (waited < std::chrono::microseconds(200)) return std::this_thread::yield();
        std::this_thread::sleep_for(std::clamp<Clock::duration>(
            waited / 8, std::chrono::microseconds(20), std::chrono::milliseconds(1)));
    }

  private:
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begun_ = Clock::now();
};

}  // namespace

NcclHandle::NcclHandle(std::shared_ptr<const NcclSetting> setting,
                       std::shared_ptr<BreakableWait> state)
    : setting_(std::move(setting)), state_(std::move(state)), stream_(setting_->options.stream) {
    must("device", setting_->cuda->set_device(setting_->options.device));
    if (!stream_) must("stream", setting_->cuda->stream_create(&stream_, nccl::stream_independent));
}

NcclHandle::~NcclHandle() { leave(); }

void NcclHandle::connect(const nccl::UniqueId& id, int rank, int size) {
    const auto deadline = Clock::now() + setting_->options.timeout;
    int result;
    {
        std::lock_guard lock(mutex_);
        result = library().init_rank_config(&made_, size, id, rank, &config_);
        comm_ = made_;
    }
    settle("make_group", result, deadline);
}

void NcclHandle::adopt(nccl::Comm comm) {
    {
        std::lock_guard lock(mutex_);
        comm_ = comm;
    }
    settle("shrink", nccl::in_progress, Clock::now() + setting_->options.timeout);
}

void NcclHandle::run(const char* what, const std::function<int(nccl::Comm)>& start) {
    check();
    const auto deadline = Clock::now() + setting_->options.timeout;
    must(what, setting_->cuda->set_device(setting_->options.device));
    int result = nccl::success;
    {
        std::lock_guard lock(mutex_);
        if (comm_) {
            outstanding_ = true;
            result = start(comm_);
        }
    }
    settle(what, result, deadline);
}

/// Until NCCL has carried out what it was told, which is not yet done when a call returns.
void NcclHandle::settle(const char* what, int result, Clock::time_point deadline) {
    for (Pause pause;; pause()) {
        check();
        {
            std::lock_guard lock(mutex_);
            if (comm_ && result == nccl::in_progress) {
                int state = nccl::success;
                const int asked = library().async_error(comm_, &state);
                result = asked == nccl::success ? state : asked;
            }
        }
        check();
        if (result == nccl::success) return;
        if (result != nccl::in_progress) fail(what, text_of(result));
        if (Clock::now() >= deadline)
            fail(what,
                 fmt::format("not under way within {} ms", setting_->options.timeout.count()));
    }
}

void NcclHandle::wait(const char* what) {
    const auto deadline = Clock::now() + setting_->options.timeout;
    for (Pause pause;; pause()) {
        check();
        int result = nccl::success;
        {
            std::lock_guard lock(mutex_);
            if (comm_ && library().async_error(comm_, &result) != nccl::success)
                result = nccl::success;  // what cannot be asked is told by the stream
        }
        if (result != nccl::success && result != nccl::in_progress) fail(what, text_of(result));
        const int stream = setting_->cuda->stream_query(stream_);
        if (stream == nccl::cuda_success) break;
        if (stream != nccl::cuda_not_ready) must(what, stream);
        if (Clock::now() >= deadline)
            fail(what, fmt::format("not finished within {} ms", setting_->options.timeout.count()));
    }
    check();  // an abort also ends what is on the stream
    outstanding_ = false;
}

void NcclHandle::copy(void* to, const void* from, std::size_t bytes) {
    check();
    outstanding_ = true;
    must("copy", setting_->cuda->copy(to, from, bytes, nccl::copy_between_any, stream_));
}

void* NcclHandle::at_least(std::size_t bytes) {
    if (memory_bytes_ >= bytes) return memory_;
    if (memory_) {
        wait("memory");
        must("memory", setting_->cuda->release(std::exchange(memory_, nullptr)));
        memory_bytes_ = 0;
    }
    must("memory", setting_->cuda->set_device(setting_->options.device));
    must("memory", setting_->cuda->allocate(&memory_, bytes));
    memory_bytes_ = bytes;
    return memory_;
}

nccl::Comm NcclHandle::shrink(std::vector<int> excluded) {
    const bool cut_off = outstanding_;
    made_ = nullptr;
    run("shrink", [&](nccl::Comm comm) {
        return library().shrink(comm, excluded.data(), static_cast<int>(excluded.size()), &made_,
                                &config_, cut_off ? nccl::shrink_abort : 0);
    });
    if (!made_) fail("shrink", "NCCL made no group");
    outstanding_ = false;
    if (cut_off) abort("a smaller group has replaced it");
    return made_;
}

void NcclHandle::abort(const std::string& why) noexcept {
    try {
        state_->break_for(why);
    } catch (const std::exception&) {
        // Out of memory for the text: aborted all the same.
    }
    end_communicator();
}

void NcclHandle::check() {
    if (!state_->broken()) return;
    end_communicator();
    quiet();
    state_->throw_if_broken();
}

void NcclHandle::must(const char* what, int cuda_error) {
    if (cuda_error == nccl::cuda_success) return;
    fail(what, fmt::format("the device says: {}", setting_->cuda->error_string(cuda_error)));
}

void NcclHandle::fail(const char* what, const std::string& why) {
    state_->break_for(fmt::format("{}: {}", what, why));
    check();
    throw CommunicatorBroken(what);
}

std::string NcclHandle::text_of(int result) {
    std::string text = fmt::format("NCCL says: {}", library().error_string(result));
    std::lock_guard lock(mutex_);
    if (!comm_) return text;
    const char* const more = library().last_error(comm_);
    return more && *more ? fmt::format("{} ({})", text, more) : text;
}

void NcclHandle::end_communicator() noexcept {
    nccl::Comm comm;
    {
        std::lock_guard lock(mutex_);
        comm = std::exchange(comm_, nullptr);
    }
    if (comm) library().abort(comm);
}

/// Whether the stream comes to its end, which an abort makes it do.
bool NcclHandle::quiet() noexcept {
    if (!stream_ || stuck_) return !stuck_;
    const auto deadline = Clock::now() + patience;
    for (Pause pause; setting_->cuda->stream_query(stream_) == nccl::cuda_not_ready; pause()) {
        if (Clock::now() < deadline) continue;
        stuck_ = true;
        return false;
    }
    return true;
}

void NcclHandle::leave() noexcept {
    if (outstanding_ && !state_->broken()) {
        try {
            wait("end");
        } catch (const std::exception&) {
            // It is aborted.
        }
    }
    nccl::Comm comm;
    {
        std::lock_guard lock(mutex_);
        comm = std::exchange(comm_, nullptr);
    }
    if (comm) {
        int result = state_->broken() ? nccl::in_progress : nccl::success;
        if (result == nccl::success) {
            // Others of the group may be gone, or still at work.
            const auto deadline =
                Clock::now() + std::min<Clock::duration>(patience, setting_->options.timeout);
            result = library().finalize(comm);
            for (Pause pause; result == nccl::in_progress && Clock::now() < deadline; pause())
                if (library().async_error(comm, &result) != nccl::success) break;
        }
        if (result == nccl::success)
            library().destroy(comm);
        else
            library().abort(comm);
    }
    if (!quiet()) return;  // memory that is written to, and a stream in use, are left
    if (memory_) setting_->cuda->release(memory_);
    if (stream_ && stream_ != setting_->options.stream) setting_->cuda->stream_destroy(stream_);
}

}  // namespace assay::cluster
