// Byte ranges of named objects, from worker to worker over TCP on this machine's loopback, under
// limits of bandwidth and the faults of links. Who sends what to whom is decided elsewhere, and
// said to both ends as a TransferOrder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "suite/base/bytes.hpp"
#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {

constexpr std::size_t kTransferTokenBytes = 16;
/// Random letters, digits, '-' and '_': 96 bits.
std::string draw_transfer_token();

/// The same for both ends.
struct TransferOrder {
    std::uint64_t id = 0;  ///< of this transfer alone, for as long as its ports live
    WorkerId from = -1, to = -1;
    std::string object;
    std::uint64_t offset = 0, bytes = 0;
    std::string token;  ///< what the receiver knows the sender by: draw_transfer_token()
};

/// A worker's network interface. 0: no limit.
struct NicLimits {
    double send_bytes_s = 0, receive_bytes_s = 0;  ///< each shared by all its transfers
    Seconds latency{0};                            ///< of what it sends, before the first byte
};

/// How transfers end. Called by threads of the port, several at once; may call the port, but not
/// destroy it. Exactly one of the two is called for every transfer, by the receiver's port, and
/// after it nothing of the transfer is written any more. The sender's port calls `broken`, with
/// done 0, where it cannot know that the receiver's has called or will call one of them: the
/// receiver is not there, closes the connection without a word, or dies. A receiver that dies right
/// after its call may leave both: the first one counts.
struct TransferEvents {
    std::function<void(std::uint64_t id)> arrived;
    /// `done`: so many bytes of the range, from its beginning, have been written.
    std::function<void(std::uint64_t id, std::uint64_t done, const std::string& why)> broken;
};

struct TransferPortOptions {
    WorkerId self = -1;
    std::shared_ptr<LinkFaults> links;
    NicLimits nic;
    /// How long a receiver waits for the connection of a transfer it expects, and a connection for
    /// a transfer to be expected; how long a cut link may hold up a chunk.
    Seconds timeout{10};
};

/// One worker's end of all its transfers. Faults of a link, set at either end or at both, strike
/// the chunks of a transfer (up to 128 KiB), not its connection: latency delays the first one,
/// bandwidth and cuts every one; losses, each of which costs resend_after, and corruption are the
/// sender's. Every chunk has a checksum: one that is wrong breaks the transfer. A process that is
/// stopped only delays its transfers; whoever watches it has to kill it or to abort them.
///
/// Listens on 127.0.0.1 only, and takes no bytes from whoever does not know the token of a transfer
/// that it expects.
class TransferPort {
  public:
    /// Throws std::system_error where no socket or thread can be had.
    TransferPort(TransferPortOptions options, TransferEvents events);
    /// Ends what is under way, without events: the other ends report it.
    ~TransferPort();
    TransferPort(const TransferPort&) = delete;
    TransferPort& operator=(const TransferPort&) = delete;

    std::uint16_t port() const;

    /// What can be sent from here under that name from now on; a transfer under way keeps what it
    /// began with. Throws std::logic_error for a length without content.
    void offer(const std::string& object, Bytes);
    /// Where ranges of the object are written, at their offset. Throws std::logic_error for what
    /// cannot be written.
    void accept(const std::string& object, Bytes);
    /// Neither any more; nothing where it was neither. What is under way goes on.
    void withdraw(const std::string& object);

    // An order that cannot be followed (there is no such object, it is too short) breaks the
    // transfer. One that is not for this worker, or has a wrong token or the id of another one,
    // throws std::logic_error.
    /// `port`: the receiver's. Returns at once.
    void send(const TransferOrder&, std::uint16_t port);
    /// Its connection may come before this.
    void expect(const TransferOrder&);
    /// Breaks it; ignored where it is not under way here.
    void abort(std::uint64_t id);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cluster
