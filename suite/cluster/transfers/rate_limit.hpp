// Limits of bandwidth: what passes one NIC or one link, shared by all transfers that pass it.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {

/// Bytes pass one after the other, in the order in which their passage is asked for: transfers that
/// ask for pieces of one size, one at a time, get equal shares, and what one does not use is left
/// to the others. Thread-safe; no call waits.
class RateLimit {
  public:
    using Clock = std::chrono::steady_clock;

    /// When `bytes` that are there at `ready`, not in the future, have passed at `rate` bytes/s; 0:
    /// at once.
    Clock::time_point pass(std::uint64_t bytes, double rate, Clock::time_point ready);

  private:
    std::mutex mutex_;
    Clock::time_point free_{};  ///< when all that was asked for has passed
};

/// How much a transfer asks for at a time where its NIC has `nic_rate` and its link `link_rate`: so
/// little that others wait a few milliseconds for it, so much that waking up costs little.
std::uint64_t piece_bytes(double nic_rate, double link_rate);

/// The way of one transfer through a NIC and a link.
class Passage {
  public:
    using Clock = RateLimit::Clock;

    Passage(RateLimit& nic, double nic_rate, RateLimit& link)
        : nic_(nic), nic_rate_(nic_rate), link_(link) {}

    /// What follows was not there before.
    void restart(Clock::time_point now) { nic_passed_ = link_passed_ = now; }
    /// When the next `bytes` have passed both. Call it when the previous ones have: being a little
    /// late, as sleepers are, is made up for, and so is what one of the two had to wait for the
    /// other.
    Clock::time_point pass(std::uint64_t bytes, double link_rate, Clock::time_point now);
    std::uint64_t piece(double link_rate) const { return piece_bytes(nic_rate_, link_rate); }

  private:
    RateLimit& nic_;
    const double nic_rate_;
    RateLimit& link_;
    Clock::time_point nic_passed_{}, link_passed_{};
};

}  // namespace assay::cluster
