// The Gloo back end (libtorch's c10d). The one place that includes libtorch's distributed headers is
// gloo.cpp; this header is torch-free.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "suite/cluster/communicator.hpp"

namespace assay::cluster {

/// The key-value store through which groups find each other. Lives in the supervisor's process,
/// never in a rank; bound to 127.0.0.1 on a free port.
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
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    std::chrono::milliseconds timeout{10000};      ///< bound on any one operation
    std::chrono::microseconds poll{200};           ///< how often a blocked call looks for abort()
};

/// A connection to the rendezvous, kept over epochs.
class GlooContext {
  public:
    explicit GlooContext(GlooOptions options);
    ~GlooContext();
    /// Collective over the members of group `key` (unique per epoch).
    std::unique_ptr<Communicator> make_group(const std::string& key, int rank, int size);
    /// Makes a running or later make_group(key) and all operations of that group throw.
    void abort(const std::string& key, const std::string& why) noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cluster
