// One TCP connection on the loopback, used by one thread and stopped by any other.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/processes/control_channel.hpp"

namespace assay::cluster {

/// Longer than decades would overflow the clock.
inline std::chrono::steady_clock::duration clock_units(Seconds seconds) {
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::min(seconds, Seconds(1e9)));
}

/// A socket that listens on 127.0.0.1, on a port of the system's choice.
FileDescriptor listen_on_loopback();
std::uint16_t port_of(const FileDescriptor& socket);

/// The connection was closed at either end, or never came about.
class ConnectionClosed : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// All calls that wait throw ConnectionClosed, also when it is stopped meanwhile.
class Connection {
  public:
    using Clock = std::chrono::steady_clock;

    // One of these comes first.
    void connect(std::uint16_t port, Seconds timeout);
    /// One that another process made; from here on its calls wait.
    void take_over(FileDescriptor socket);

    /// Both parts, as if they were one.
    void send(std::span<const std::byte> first, std::span<const std::byte> second = {});
    /// `first`, and a part of a file, which the kernel takes from its cache.
    void send_file(std::span<const std::byte> first, int file, std::uint64_t offset,
                   std::size_t bytes);
    /// The other end's receive() throws when it has taken what was sent.
    void end_of_sending();
    /// Exactly as many bytes as there is room for.
    void receive(std::span<std::byte> all);
    void sleep_until(Clock::time_point when);
    /// Whether the other end has said something or closed it. Does not wait.
    bool other_end_is_done() const;

    /// From any thread: what waits in receive() or sleep_until() ends, now and later. With `both`,
    /// what waits in connect() or send() as well; else a last word can still be sent.
    void stop(bool both);
    bool stopped() const { return stopped_; }
    /// Says the byte, if it can still be said, and closes the connection.
    void close_with(std::byte last_word);
    void close();

  private:
    void throw_if_stopped() const;

    std::atomic<bool> stopped_{false};
    std::mutex mutex_;  ///< of socket_ as long as another thread may stop it
    std::condition_variable stop_came_;
    FileDescriptor socket_;
};

}  // namespace assay::cluster
