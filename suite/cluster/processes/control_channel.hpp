// Both ends of a worker's control channel. The worker's: messages to and from the supervisor,
// heartbeats, SIGTERM. The supervisor's never blocks, and keeps what the worker has not taken yet.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/processes/frame.hpp"

namespace assay::cluster {

using Seconds = std::chrono::duration<double>;

/// The worker's end. Thread-safe. While one lives, SIGTERM of its process is a request to stop
/// instead of an end.
class ControlChannel {
  public:
    explicit ControlChannel(int fd);  ///< a stream socket; takes it over
    ~ControlChannel();
    ControlChannel(const ControlChannel&) = delete;
    ControlChannel& operator=(const ControlChannel&) = delete;

    /// Starts the listener thread: heartbeats every `interval`; calls `on_urgent` on that thread
    /// for each message whose body has "urgent": true *before* queueing it (to abort a
    /// communicator); it must not throw. To be called once (std::logic_error), before receive().
    void start(Seconds interval, std::function<void(const nlohmann::json&)> on_urgent = {});

    /// Blocks while the supervisor does not read. Throws std::runtime_error when it is gone.
    void send(const nlohmann::json& body);

    /// Next message in order; blocks. nullopt: the supervisor is gone. When SIGTERM arrives, the
    /// listener queues {"type": "stop_requested"} as if it had been sent.
    std::optional<nlohmann::json> receive();
    /// nullopt: nothing came in time, or the supervisor is gone.
    std::optional<nlohmann::json> try_receive(Seconds timeout);
    bool stop_requested() const;  ///< SIGTERM arrived
    /// From another thread of this process, as if the supervisor had sent it.
    void post(const nlohmann::json& body);
    /// Returns when the listener has dealt with all that the supervisor sent before the call: for
    /// who was stopped, and is continued beside it.
    void settle();

    /// Tells the supervisor why this worker is about to end in error (part of WorkerDied::how).
    void fail(const std::string& why) noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The supervisor's end.
class WorkerConnection {
  public:
    /// More than a socket buffers, so the last words of a dead worker come in one call; little
    /// enough that a worker that never stops sending does not keep the supervisor from the others.
    static constexpr std::size_t kReceiveAtOnceBytes = std::size_t{8} << 20;

    WorkerConnection() = default;       ///< closed
    explicit WorkerConnection(int fd);  ///< takes it over

    int fd() const { return socket_.get(); }
    bool open() const { return bool(socket_); }
    bool wants_to_write() const { return open() && written_ < output_.size(); }

    void send(const std::string& frame);
    void flush();

    struct Received {
        std::vector<nlohmann::json> messages;
        bool any_bytes = false;
        std::string failure;    ///< last failure the worker told
        std::string malformed;  ///< why the stream cannot be read on; empty: it can
    };
    /// What has arrived, at most about kReceiveAtOnceBytes. Closes itself at the end of the stream
    /// and when it is malformed.
    Received receive();

  private:
    FileDescriptor socket_;
    FrameReader reader_;
    std::string output_;
    std::size_t written_ = 0;
};

}  // namespace assay::cluster
