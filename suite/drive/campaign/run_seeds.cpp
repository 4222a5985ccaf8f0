#include "suite/drive/campaign/run_seeds.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "suite/drive/campaign/seed_process.hpp"

namespace assay::drive {
namespace {

/// How far seeds may be ahead of the earliest without an outcome: theirs are held until then.
constexpr std::uint64_t most_ahead = 10'000;

int jobs_of(const CampaignMode& mode, int asked) {
    if (asked == 0) asked = mode.jobs;
    if (asked == 0) asked = static_cast<int>(std::thread::hardware_concurrency());
    return std::max(asked, 1);
}

class SeedRunner {
  public:
    SeedRunner(const CampaignMode& mode, const SeedsToRun& what, cluster::SignalWatch& signals,
               const SeedListener& listener)
        : mode_(mode),
          what_(what),
          signals_(signals),
          listener_(listener),
          jobs_(jobs_of(mode, what.jobs)),
          next_to_start_(what.seeds.first),
          next_to_tell_(what.seeds.first) {}

    SeedsEnd run() {
        while (true) {
            if (tell()) return SeedsEnd::failed_fast;
            if (next_to_tell_ > what_.seeds.last) return SeedsEnd::all_done;
            if (signals_.take()) return interrupted();
            start();
            wait();
            for (SeedProcess& process : processes_) collect(process);
            processes_.remove_if([](const SeedProcess& each) { return each.over(); });
        }
    }

  private:
    /// True: one has failed, and that is enough.
    bool tell() {
        while (!outcomes_.empty() && outcomes_.begin()->first == next_to_tell_) {
            const SeedOutcome outcome = std::move(outcomes_.begin()->second);
            outcomes_.erase(outcomes_.begin());
            listener_.on_outcome(next_to_tell_++, outcome);
            if (!outcome.ok && what_.fail_fast) return true;
        }
        return false;
    }

    void start() {
        while (static_cast<int>(processes_.size()) < jobs_) {
            const auto seeds = next_seeds();
            if (!seeds) return;
            processes_.emplace_back(mode_, *seeds, what_.variant);
        }
    }

    std::optional<SeedRange> next_seeds() {
        if (!again_.empty()) {
            const SeedRange seeds = again_.front();
            again_.pop_front();
            return seeds;
        }
        if (next_to_start_ > what_.seeds.last || next_to_start_ > next_to_tell_ + most_ahead)
            return std::nullopt;
        // The last ones in small portions, so that all processes end at about the same time.
        const std::uint64_t share =
            (what_.seeds.last - next_to_start_) / (2 * static_cast<std::uint64_t>(jobs_)) + 1;
        const auto size = std::min(share, static_cast<std::uint64_t>(mode_.seeds_per_process));
        const SeedRange seeds{next_to_start_, next_to_start_ + size - 1};
        next_to_start_ += size;
        return seeds;
    }

    /// Until one of them has news, is late, or we are interrupted.
    void wait() {
        std::vector<pollfd> entries{{signals_.fd(), POLLIN, 0}};
        auto deadline = SeedProcess::Clock::time_point::max();
        for (SeedProcess& process : processes_) {
            entries.push_back({process.answers_fd(), POLLIN, 0});
            entries.push_back({process.end_fd(), POLLIN, 0});
            deadline = std::min(deadline, process.deadline());
        }
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - SeedProcess::Clock::now());
        ::poll(entries.data(), entries.size(),
               static_cast<int>(std::clamp<long long>(left.count(), 0, 60'000)));
    }

    void collect(SeedProcess& process) {
        for (auto& [seed, outcome] : process.read()) {
            outcomes_.emplace(seed, std::move(outcome));
            ++done_;
        }
        listener_.on_progress(done_);
        if (process.over())
            if (const auto left = process.left()) again_.push_back(*left);
    }

    SeedsEnd interrupted() {
        for (const auto& [seed, outcome] : outcomes_) listener_.on_outcome(seed, outcome);
        return SeedsEnd::interrupted;
    }

    const CampaignMode& mode_;
    const SeedsToRun& what_;
    cluster::SignalWatch& signals_;
    const SeedListener& listener_;
    const int jobs_;
    std::uint64_t next_to_start_, next_to_tell_, done_ = 0;
    std::deque<SeedRange> again_;  ///< not reached: their process ended at an earlier seed
    std::list<SeedProcess> processes_;
    std::map<std::uint64_t, SeedOutcome> outcomes_;  ///< not told of yet
};

}  // namespace

SeedsEnd run_seeds(const CampaignMode& mode, const SeedsToRun& what, cluster::SignalWatch& signals,
                   const SeedListener& listener) {
    return SeedRunner(mode, what, signals, listener).run();
}

}  // namespace assay::drive
