// The Gloo back end (libtorch's c10d). Torch-free: only the sources beside it include libtorch's
// distributed headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "suite/cluster/collectives/group_maker.hpp"

namespace assay::cluster {

/// The key-value store through which groups find each other. Lives in the supervisor's process,
/// never in a rank; bound to 127.0.0.1 on a free port. Starts a thread: make the fork server first.
class RendezvousServer {
  public:
    RendezvousServer();  ///< throws std::runtime_error when no port is free
    ~RendezvousServer();
    std::uint16_t port() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

struct GlooOptions {
    std::string host = "127.0.0.1";  ///< of the rendezvous; groups connect over this address too
    std::uint16_t port = 0;
    std::chrono::milliseconds timeout{10000};  ///< bound on any one operation, make_group included
};

/// A connection to the rendezvous, kept over epochs. Used by one thread; abort() by any. Makes its
/// process ignore SIGPIPE, unless it has a handler.
///
/// Operations work on buffers of the communicator's own, so that one left behind by an abort writes
/// into nobody's memory. A member that breaks closes its connections, which breaks the others in
/// turn; abort() breaks those at once that wait for somebody who neither answers nor dies.
class GlooContext final : public GroupMaker {
  public:
    explicit GlooContext(GlooOptions options);
    ~GlooContext() override;
    std::unique_ptr<Communicator> make_group(const std::string& key, int rank, int size) override;
    void abort(const std::string& key, const std::string& why) noexcept override;
    bool in_host_memory() const override { return true; }

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

/// The groups of one worker over Gloo, for WorkerGroups. `port`: of the rendezvous; `timeout`:
/// bound on any one operation.
std::unique_ptr<GroupMaker> gloo_groups(std::uint16_t port, std::chrono::duration<double> timeout);

/// The rendezvous as other back ends use it. Connects when it is first used.
std::unique_ptr<Rendezvous> connect_rendezvous(GlooOptions options);

}  // namespace assay::cluster
