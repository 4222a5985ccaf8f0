// Connections that have come in, until they have said which transfer they are of. Used by the one
// thread that listens.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <vector>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/transfers/wire.hpp"

namespace assay::cluster {

class Arrivals {
  public:
    using Clock = std::chrono::steady_clock;

    /// One that is not taken within `patience` is closed.
    Arrivals(FileDescriptor listening, Seconds patience);

    std::uint16_t port() const;
    /// Waits until something has come, one is closed, `wake` is readable, or `until`.
    void wait(int wake, Clock::time_point until);
    /// Goes through those that have said what they are of; `take` empties the descriptor of what it
    /// takes over or refuses.
    void offer(const std::function<void(const TransferHeader&, FileDescriptor&)>& take);

  private:
    struct Arrival {
        FileDescriptor socket;
        Clock::time_point deadline;
        std::array<std::byte, kTransferHeaderBytes> bytes{};
        std::size_t got = 0;
        std::optional<TransferHeader> header{};
    };
    void accept_all();
    static void read_header(Arrival&);

    FileDescriptor listening_;
    const Clock::duration patience_;
    Clock::time_point accepts_from_{};  ///< later than now while no descriptor can be had
    std::list<Arrival> arrivals_;
    std::vector<pollfd> watched_;
};

}  // namespace assay::cluster
