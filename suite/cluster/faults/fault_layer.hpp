// Faults of the network, in our transport: a communicator around another one that delays,
// throttles, loses, cuts and corrupts messages, and checks what arrives. Without faults and
// checksums it only passes calls on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "suite/cluster/collectives/checksum_layer.hpp"
#include "suite/cluster/collectives/communicator.hpp"
#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {

/// What happens to messages between two workers.
struct LinkCondition {
    Seconds latency{0};
    double bandwidth = 0;  ///< bytes/s; 0: unlimited
    double loss = 0;       ///< share of messages that are lost and sent again after `resend_after`
    bool cut = false;
    Seconds resend_after{0.2};
};

/// The faults of one worker's links, by the peer's name. Set by any thread, read by communicators
/// and by transfers (suite/cluster/transfers), whose chunks are messages too.
/// Losses are drawn from `seed` and the worker's name, each by the sender: a link that loses in
/// both directions is set at both of its ends.
class LinkFaults {
  public:
    explicit LinkFaults(WorkerId self, std::uint64_t seed);
    ~LinkFaults();
    /// peer -1: everybody for whom nothing else is set. Without `duration`: for good. A later call
    /// for the same peer replaces it; a condition without any fault heals the link (or, while
    /// everybody's is faulty, exempts it). Impossible conditions throw std::invalid_argument.
    void set(WorkerId peer, const LinkCondition& condition, std::optional<Seconds> duration);
    /// One bit of the next message sent to another worker flips on its way; each call corrupts one.
    /// Sums (all_reduce_sum) and barriers are left alone.
    void corrupt_next_message();
    /// Whatever holds back an operation of the group of that name (FaultLayerOptions::group) ends:
    /// it throws CommunicatorBroken, now and later. What is not held back is left to the inner
    /// communicator, which has an abort of its own.
    void abort(const std::string& group, const std::string& why);
    /// Messages. Delayed by latency or bandwidth, or met by a cut: sent or received by this
    /// worker. Lost (each time anew) and corrupted: sent by it.
    struct Counts {
        long delayed = 0, lost = 0, cut = 0, corrupted = 0;
    };
    Counts counts() const;
    /// How long operations have been held back, by slow and by cut links. Without transfers.
    Seconds held() const;

    // ---- of one message that goes to `peer` or comes from it, outside of any group
    /// What holds for the link now; without faults as constructed.
    LinkCondition condition(WorkerId peer) const;
    /// Waits while the link is cut, and counts what is cut or delayed. False: it was cut for
    /// `timeout`. Also returns, with true, once `ended` is true, which is asked first, after every
    /// change and after wake().
    bool wait_while_cut(WorkerId peer, Seconds timeout, const std::function<bool()>& ended);
    void wake();
    /// How long sending a message again takes, as often as it is lost.
    Seconds draw_resends(WorkerId peer);
    /// Which bit of a message of so many bytes flips, if it is to be corrupted.
    std::optional<std::size_t> draw_flip(std::size_t bytes);

  private:
    friend class FaultLayer;
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

/// A peer that could not be reached for as long as an operation may take.
class Unreachable : public CommunicatorBroken {
  public:
    Unreachable(WorkerId peer, const std::string& why) : CommunicatorBroken(why), peer_(peer) {}
    WorkerId peer() const { return peer_; }

  private:
    WorkerId peer_;
};

struct FaultLayerOptions {
    bool checksums = true;  ///< 8 bytes with every message; all_reduce_sum passes unchecked
    /// Whether messages can be looked into, for a bit to flip; needed for checksums.
    bool in_host_memory = true;
    Seconds timeout{10};  ///< a cut link that does not heal within it breaks the group
    /// For LinkFaults::abort(). Groups that shrink() makes are called by its key.
    std::string group = {};
};

/// `names[rank]`: who is who. Link faults act where both ends take part in an operation: its
/// messages are held back before the inner operation starts, so a delayed link delays everyone who
/// waits for it, as in a real collective. A link works in both directions at once, and all links of
/// a worker side by side: an operation is held back as long as its slowest link takes. What
/// exchange_messages() receives is of unknown length until it is there and held back then, of a
/// peer that sent more than it was sent.
std::unique_ptr<Communicator> make_fault_layer(std::unique_ptr<Communicator> inner,
                                               std::vector<WorkerId> names,
                                               std::shared_ptr<LinkFaults> faults,
                                               FaultLayerOptions options);

}  // namespace assay::cluster
