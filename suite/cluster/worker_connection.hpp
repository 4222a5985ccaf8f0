// The supervisor's end of one worker's control channel: never blocks; keeps what the worker has not
// taken yet.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/cluster/file_descriptor.hpp"
#include "suite/cluster/frame.hpp"

namespace assay::cluster {

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
