#include "suite/cluster/transfers/rate_limit.hpp"

#include <algorithm>

#include "suite/cluster/transfers/wire.hpp"

namespace assay::cluster {
namespace {

/// How late a transfer may be without losing its share. Sleepers wake up late by some tens of
/// microseconds, on a busy machine by milliseconds; who waits longer has had nothing to send.
constexpr std::chrono::milliseconds kForgivenLateness{50};

// A piece of the NIC takes 5 ms: less would be spent on waking up. Where the link is so slow that
// it takes 50 ms, it is smaller, so that a change of the link is noticed; such a transfer uses less
// than its share of the NIC anyway.
constexpr double kPieceOfNic_s = 5e-3, kPieceOfLink_s = 50e-3, kLeastPieceBytes = 4096;

}  // namespace

RateLimit::Clock::time_point RateLimit::pass(std::uint64_t bytes, double rate,
                                             Clock::time_point ready) {
    if (!(rate > 0)) return ready;
    // Longer than decades would overflow the clock.
    const std::chrono::duration<double> takes(std::min(double(bytes) / rate, 1e9));
    std::lock_guard lock(mutex_);
    free_ = std::max(free_, ready) + std::chrono::duration_cast<Clock::duration>(takes);
    return free_;
}

std::uint64_t piece_bytes(double nic_rate, double link_rate) {
    double piece = kMostChunkBytes;
    if (nic_rate > 0) piece = std::min(piece, nic_rate * kPieceOfNic_s);
    if (link_rate > 0) piece = std::min(piece, link_rate * kPieceOfLink_s);
    return static_cast<std::uint64_t>(std::max(piece, kLeastPieceBytes));
}

RateLimit::Clock::time_point Passage::pass(std::uint64_t bytes, double link_rate,
                                           Clock::time_point now) {
    const auto earliest = now - kForgivenLateness;
    nic_passed_ = nic_.pass(bytes, nic_rate_, std::max(nic_passed_, earliest));
    link_passed_ = link_.pass(bytes, link_rate, std::max(link_passed_, earliest));
    return std::max(nic_passed_, link_passed_);
}

}  // namespace assay::cluster
