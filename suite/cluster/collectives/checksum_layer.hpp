// A communicator around another one that sends a checksum with every message and looks at what
// arrives before the caller sees any of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "suite/cluster/collectives/communicator.hpp"
#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {

/// What makes a message the one that the receiver waits for.
struct MessageIdentity {
    std::uint64_t group = 0;     ///< any number that members share and other groups do not
    int from = 0;                ///< rank
    int to = 0;                  ///< rank; -1: everybody
    std::uint64_t sequence = 0;  ///< counted by sender and receiver alike
};

/// A 64-bit checksum of a message: its bytes, and who sent it to whom as which message of which
/// group. Not cryptographic. Every change within one aligned 8-byte word of the message, or of one
/// field of its identity, gives another value (each step is a bijection of the state for a given
/// word, and of the word for a given state); any other change goes unnoticed once in 2^64 cases.
std::uint64_t message_checksum(const void* data, std::size_t bytes, const MessageIdentity&);

/// A message whose checksum is wrong: nothing of it reached the caller's result.
class CorruptMessage : public CommunicatorBroken {
  public:
    CorruptMessage(WorkerId from, const std::string& why) : CommunicatorBroken(why), from_(from) {}
    WorkerId from() const { return from_; }

  private:
    WorkerId from_;
};

/// What each message of a checksum layer is longer by; the checksum comes last.
constexpr std::size_t kChecksumBytes = 8;

/// Buffers lie in host memory. Every message of `inner` travels as bytes; also an empty part of an
/// all-to-all has its checksum, so that members which disagree on how many exchanges there were
/// learn of it. What a rank sends itself is copied. Throws CorruptMessage with the sender's name
/// after aborting `inner`; the caller's buffers are as they were. all_reduce_sum and barrier pass
/// unchecked.
std::unique_ptr<Communicator> make_checksum_layer(std::unique_ptr<Communicator> inner,
                                                  std::vector<WorkerId> names);

}  // namespace assay::cluster
