// Gloo groups for tests: each rank a thread with a context of its own, all in one process.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "suite/cluster/gloo/gloo.hpp"

namespace assay::cluster {

class GlooFactory {
  public:
    std::unique_ptr<Communicator> make(int rank, int size, std::chrono::milliseconds timeout) {
        static RendezvousServer server;
        GlooContext context({.port = server.port(), .timeout = timeout});
        return context.make_group(key_, rank, size);
    }

  private:
    static std::string next_key() {
        static std::atomic<int> groups{0};
        return "test-group-" + std::to_string(groups++);
    }
    const std::string key_ = next_key();
};

}  // namespace assay::cluster
