// Who has been silent for too long. No clock, no I/O: time comes in by tick().
//
// Silence is measured on the watcher's own progress: a tick counts for at most twice the heartbeat
// interval, however much later than the last it comes. So a watcher that was itself held up (a busy
// machine, a stopped process, a caller that computes) blames nobody for the time it did not look.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

namespace assay::cluster {

class HeartbeatMonitor {
  public:
    using Seconds = std::chrono::duration<double>;

    /// `start_timeout`: how long the first sign of life may take.
    HeartbeatMonitor(Seconds interval, Seconds timeout, Seconds start_timeout)
        : largest_step_(2 * interval), timeout_(timeout), start_timeout_(start_timeout) {}

    void watch(int worker) { watched_[worker] = {observed_, false}; }
    void heard(int worker) {
        if (auto it = watched_.find(worker); it != watched_.end()) it->second = {observed_, true};
    }
    /// Silence starts anew, the allowed length stays: for a worker stopped or resumed on purpose.
    void restart(int worker) {
        if (auto it = watched_.find(worker); it != watched_.end()) it->second.since = observed_;
    }
    /// The last tick, of `elapsed`, does not count against a worker that could not beat.
    void excuse(int worker, Seconds elapsed) {
        if (auto it = watched_.find(worker); it != watched_.end()) {
            Seconds& since = it->second.since;
            since = std::min(observed_, since + std::min(elapsed, largest_step_));
        }
    }
    void forget(int worker) { watched_.erase(worker); }

    /// Call after everything that arrived was heard; `elapsed` since the last call.
    void tick(Seconds elapsed) { observed_ += std::min(elapsed, largest_step_); }

    struct Silent {
        int worker;
        Seconds silence;
        bool never_heard;
    };
    std::vector<Silent> silent() const {
        std::vector<Silent> found;
        for (const auto& [worker, state] : watched_) {
            const Seconds silence = observed_ - state.since;
            if (silence > (state.heard ? timeout_ : start_timeout_)) {
                found.push_back({worker, silence, !state.heard});
            }
        }
        return found;
    }

  private:
    struct State {
        Seconds since{0};
        bool heard = false;
    };
    Seconds largest_step_, timeout_, start_timeout_;
    Seconds observed_{0};
    std::map<int, State> watched_;
};

}  // namespace assay::cluster
