// The handler writes the signal's number into the pipe of every watch that named it. It may use
// only async-signal-safe calls, so the watches lie in a fixed array of atomics.
#include "suite/cluster/processes/signal_watch.hpp"

#include <fcntl.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace assay::cluster {
namespace {

struct Slot {
    std::atomic<int> write_fd{-1};
    std::atomic<std::uint64_t> signals{0};  ///< bit n: signal n
};
std::array<Slot, SignalWatch::kMaxWatches> slots;
std::atomic<int> handlers_running{0};

struct Replaced {
    int watches = 0;
    struct sigaction previous {};
};
std::mutex replaced_mutex;
std::map<int, Replaced> replaced;

extern "C" void assay_signal_watch_handler(int signal_number) {
    const int saved_errno = errno;
    ++handlers_running;
    for (Slot& slot : slots) {
        const int fd = slot.write_fd.load();
        if (fd >= 0 && (slot.signals.load() >> signal_number & 1)) {
            const auto byte = static_cast<char>(signal_number);
            // A full pipe already holds signals that nobody took: dropping one more is harmless.
            [[maybe_unused]] const ssize_t written = ::write(fd, &byte, 1);
        }
    }
    --handlers_running;
    errno = saved_errno;
}

}  // namespace

SignalWatch::SignalWatch(std::initializer_list<int> signals) : signals_(signals) {
    int ends[2];
    check_call(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), "pipe for signals");
    read_end_ = FileDescriptor(ends[0]);
    write_end_ = FileDescriptor(ends[1]);

    std::lock_guard lock(replaced_mutex);
    for (int i = 0; i < kMaxWatches && slot_ < 0; ++i) {
        if (slots[i].write_fd.load() < 0) slot_ = i;
    }
    if (slot_ < 0) throw std::runtime_error("too many signal watches in one process");
    std::uint64_t mask = 0;
    for (int signal_number : signals_) mask |= std::uint64_t{1} << signal_number;
    slots[slot_].signals = mask;
    slots[slot_].write_fd = write_end_.get();
    for (int signal_number : signals_) {
        Replaced& entry = replaced[signal_number];
        if (entry.watches++ > 0) continue;
        struct sigaction action {};
        action.sa_handler = assay_signal_watch_handler;
        action.sa_flags = SA_RESTART;
        ::sigaction(signal_number, &action, &entry.previous);
    }
}

SignalWatch::~SignalWatch() {
    std::lock_guard lock(replaced_mutex);
    for (int signal_number : signals_) {
        const auto entry = replaced.find(signal_number);
        if (entry == replaced.end() || --entry->second.watches > 0) continue;
        // Who has set another handler meanwhile keeps it.
        struct sigaction current {};
        ::sigaction(signal_number, nullptr, &current);
        if (current.sa_handler == assay_signal_watch_handler)
            ::sigaction(signal_number, &entry->second.previous, nullptr);
        replaced.erase(entry);
    }
    slots[slot_].write_fd = -1;
    slots[slot_].signals = 0;
    // One that runs in another thread may have read the descriptor, which is closed next.
    while (handlers_running.load() > 0) std::this_thread::yield();
}

std::optional<int> SignalWatch::take() {
    char byte = 0;
    if (::read(fd(), &byte, 1) != 1) return std::nullopt;
    return byte;
}

void SignalWatch::discard_inherited() {
    for (Slot& slot : slots) {
        slot.write_fd = -1;
        slot.signals = 0;
    }
    for (const auto& [signal_number, entry] : replaced) ::signal(signal_number, SIG_DFL);
    replaced.clear();
    handlers_running = 0;
}

}  // namespace assay::cluster
