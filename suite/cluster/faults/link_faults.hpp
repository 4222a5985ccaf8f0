// The state behind LinkFaults, which the listener that sets it shares with the communicators that
// obey it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "suite/cluster/faults/fault_layer.hpp"

namespace assay::cluster {

/// Everything but `self` and `active` is guarded by `mutex`.
struct LinkFaults::Impl {
    using Clock = std::chrono::steady_clock;
    struct Entry {
        LinkCondition condition;
        Clock::time_point until;  ///< max(): for good
    };

    /// What one operation moves between this worker and another.
    struct Exchange {
        WorkerId peer;
        std::size_t bytes;    ///< of the direction with more: links work in both at once
        long sent, received;  ///< messages
    };
    /// A part of a buffer that goes to another worker.
    struct Payload {
        std::size_t offset, bytes;
    };

    Impl(WorkerId name, std::uint64_t seed);

    void set(WorkerId peer, const LinkCondition& condition, std::optional<Seconds> duration);
    void refresh_active();

    // Both count, and release `lock` while they wait; they return early when `broken` comes true
    // and `changed` was notified.
    /// Until none of the links is cut; the first peer that stays out of reach for `timeout`.
    std::optional<WorkerId> wait_for_cut_links(std::unique_lock<std::mutex>& lock,
                                               const std::vector<Exchange>& exchanges,
                                               Seconds timeout,
                                               const std::function<bool()>& broken);
    /// As long as the slowest of the links takes.
    void wait_for_slow_links(std::unique_lock<std::mutex>& lock,
                             const std::vector<Exchange>& exchanges,
                             const std::function<bool()>& broken);

    /// How often each of `messages` is lost in all. Counts.
    long draw_losses(const LinkCondition& link, long messages);

    /// Which bit of the buffer to flip, if one of `payloads` is to be corrupted.
    std::optional<std::size_t> draw_flip(const std::vector<Payload>& payloads);

    const WorkerId self;
    /// Whether an operation has to look any further; what a communicator without faults pays for.
    std::atomic<bool> active{false};
    std::mutex mutex;
    std::condition_variable changed;  ///< a condition, or a communicator was aborted
    std::map<WorkerId, Entry> entries;
    long corruptions_wanted = 0;
    std::mt19937_64 random;
    Counts counts;
    Seconds held{0};
    std::map<std::string, std::string> aborted;  ///< groups, and why

    /// What holds for the link to `peer` now; null: it is fine. Valid until the next change.
    const LinkCondition* condition_of(WorkerId peer) const;

  private:
    bool is_cut(const Exchange&) const;
    Seconds draw_delay(const Exchange&);
    void expire();                          ///< drops what has run out
    Clock::time_point next_expiry() const;  ///< max(): none
};

}  // namespace assay::cluster
