// The fork server's own process, which forks workers on request, reports how they end, and kills
// them all when its lifeline closes; and what it and the supervisor say to each other over a
// SOCK_SEQPACKET pair: one fixed-size packet per message, descriptors attached. The end of file on
// that is the lifeline: it comes when the supervisor's process is gone, in whatever way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {

struct ForkPacket {
    enum class Kind : std::int32_t {
        launch,    ///< to the server; descriptors: the worker's channel, a memfd with its config
        launched,  ///< from the server; descriptor: a pidfd of the worker
        refused,   ///< from the server: `status` is the errno of what failed
        ended,     ///< from the server: `status` as from waitpid
    };
    Kind kind = Kind::launch;
    std::int32_t worker = -1;
    std::int64_t pid = -1;
    std::int32_t status = 0;
};

struct ReceivedPacket {
    ForkPacket packet;
    std::vector<FileDescriptor> descriptors;
};

/// Throws std::system_error.
void send_packet(int socket, const ForkPacket& packet, const std::vector<int>& descriptors = {});

/// nullopt: the other side is gone. Throws std::system_error; with `flags` MSG_DONTWAIT also when
/// there is no packet (EAGAIN).
std::optional<ReceivedPacket> receive_packet(int socket, int flags = 0);

/// Serves requests on `socket` until the other side is gone. Never returns. To be called in a
/// process just forked from one without other threads.
[[noreturn]] void run_fork_server(int socket, const WorkerMain& worker_main);

}  // namespace assay::cluster
