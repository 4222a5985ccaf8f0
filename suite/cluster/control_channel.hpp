// The worker's end of the control channel: messages to and from the supervisor, heartbeats,
// SIGTERM.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace assay::cluster {

using Seconds = std::chrono::duration<double>;

/// Thread-safe. While one lives, SIGTERM of its process is a request to stop instead of an end.
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

    /// Tells the supervisor why this worker is about to end in error (part of WorkerDied::how).
    void fail(const std::string& why) noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cluster
