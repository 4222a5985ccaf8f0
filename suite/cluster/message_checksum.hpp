// A 64-bit checksum of a message: its bytes, and who sent it to whom as which message of which
// group. Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::cluster {

/// What makes a message the one that the receiver waits for.
struct MessageIdentity {
    std::uint64_t group = 0;     ///< any number that members share and other groups do not
    int from = 0;                ///< rank
    int to = 0;                  ///< rank; -1: everybody
    std::uint64_t sequence = 0;  ///< counted by sender and receiver alike
};

/// Every change within one aligned 8-byte word of the message, or of one field of its identity,
/// gives another value (each step is a bijection of the state for a given word, and of the word for
/// a given state); any other change goes unnoticed once in 2^64 cases.
std::uint64_t message_checksum(const void* data, std::size_t bytes, const MessageIdentity&);

}  // namespace assay::cluster
