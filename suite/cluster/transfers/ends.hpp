// The two ends of one transfer, over a connection on which the sender has said which one it is.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>

#include "suite/cluster/transfers/connection.hpp"
#include "suite/cluster/transfers/rate_limit.hpp"
#include "suite/cluster/transfers/transfer_port.hpp"

namespace assay::cluster {

/// One direction of a worker's NIC and links, shared by its transfers.
class Direction {
  public:
    RateLimit nic;
    /// The link to that peer, or from it. Stays where it is.
    RateLimit& link(WorkerId peer) {
        std::lock_guard lock(mutex_);
        return links_[peer];
    }

  private:
    std::mutex mutex_;
    std::map<WorkerId, RateLimit> links_;
};

/// Why a transfer cannot go on, although its connection is fine.
class TransferBroken : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Sends the range of `order`, which `object` holds. Throws TransferBroken where the link stays
/// cut, ConnectionClosed, and what the system refuses.
void send_range(Connection& connection, const TransferOrder& order, const Bytes& object,
                const TransferPortOptions& options, Direction& outgoing);
/// Says to the receiver that nothing more comes, and why.
void send_end(Connection& connection, const std::string& why);

/// Writes what arrives to `range`, as long as the order says; `done` grows with every chunk that is
/// there and right. Throws TransferBroken also for what the sender says, and for what it may not.
void receive_range(Connection& connection, const TransferOrder& order, std::span<std::byte> range,
                   const TransferPortOptions& options, Direction& incoming, std::uint64_t& done);

}  // namespace assay::cluster
