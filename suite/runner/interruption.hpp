// SIGINT, SIGTERM and SIGHUP as something to poll for.
#pragma once

#include <signal.h>

#include <array>

#include "suite/base/file_descriptor.hpp"

namespace assay::runner {

/// While it lives, the three signals end nothing but make fd() readable. One at a time per process.
/// The previous handlers come back afterwards. A signal that was ignored (nohup) stays ignored.
class Interruption {
  public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    int fd() const { return read_.get(); }
    bool requested() const;

  private:
    static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
    FileDescriptor read_, write_;
    std::array<struct sigaction, 3> previous_{};
};

}  // namespace assay::runner
