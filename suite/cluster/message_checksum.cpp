#include "suite/cluster/message_checksum.hpp"

#include <cstring>

namespace assay::cluster {
namespace {

// Odd, so that multiplication by it is a bijection modulo 2^64: the fractional part of the golden
// ratio, times 2^64.
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;

// Chains that do not wait for each other: one multiplication takes several cycles, but several can
// be under way.
constexpr std::size_t kLanes = 8;
constexpr std::size_t kBlockBytes = kLanes * sizeof(std::uint64_t);

std::uint64_t word_at(const std::byte* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

/// Bijective in `state` and in `word`. The shift brings high bits down, which a product alone never
/// does.
std::uint64_t absorb(std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * kMultiplier;
    return state ^ (state >> 29);
}

}  // namespace

std::uint64_t message_checksum(const void* data, std::size_t bytes,
                               const MessageIdentity& identity) {
    const auto* at = static_cast<const std::byte*>(data);
    std::uint64_t state = absorb(identity.group, bytes);
    state =
        absorb(state, static_cast<std::uint64_t>(static_cast<std::uint32_t>(identity.from)) << 32 |
                          static_cast<std::uint32_t>(identity.to));
    state = absorb(state, identity.sequence);

    std::size_t left = bytes;
    if (left >= kBlockBytes) {
        std::uint64_t lanes[kLanes];
        for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = lane;
        for (; left >= kBlockBytes; left -= kBlockBytes, at += kBlockBytes) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                lanes[lane] = absorb(lanes[lane], word_at(at + lane * sizeof(std::uint64_t)));
            }
        }
        for (const std::uint64_t lane : lanes) state = absorb(state, lane);
    }
    for (; left >= sizeof(std::uint64_t); left -= sizeof(std::uint64_t)) {
        state = absorb(state, word_at(at));
        at += sizeof(std::uint64_t);
    }
    if (left > 0) {  // its length is in the state already, so zeros may fill it up
        std::uint64_t word = 0;
        std::memcpy(&word, at, left);
        state = absorb(state, word);
    }
    return absorb(state, 0);
}

}  // namespace assay::cluster
