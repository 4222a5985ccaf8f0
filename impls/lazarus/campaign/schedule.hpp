// What one seed of the campaign stands for (the job, the speeds, and the faults), and what becomes
// of it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "impls/lazarus/policy/controller/protocol.hpp"

namespace assay::lazarus::campaign {

/// Points in a worker's life where a fault can strike it.
enum class Moment {
    before_step_done,  ///< sums finished, not reported
    after_step_done,   ///< reported, not committed
    commit_received,   ///< committed, not applied
    go_received,       ///< first step of a new plan about to start
    joiner_goes,       ///< the node that just joined, at its first Go
    reconfigure_received,
    sending,    ///< about to send expert state
    receiving,  ///< about to receive expert state
    after_ready,
    writing_checkpoint,  ///< some parts written, others not
    count
};
constexpr std::size_t kMoments = static_cast<std::size_t>(Moment::count);

struct TimedFault {
    enum class Kind { kill, kill_two, hang, short_hang, join, leave, slow_worker, slow_link } kind;
    double at;
};

/// Faults of workers that stay alive, of links and of storage: the probability of each where it can
/// happen.
struct FaultOdds {
    double nan = 0;               ///< a step's sums are not finite
    double corrupt_tensor = 0;    ///< one worker finds its state changed: the step fails, it ends
    double nan_again = 0;         ///< … and so at the next try
    double corrupt_step = 0;      ///< a damaged message breaks a step's group
    double corrupt_transfer = 0;  ///< … a state on its way
    double cut_link = 0;          ///< a member cannot be reached: in a step, or building a group
    double torn_checkpoint = 0;   ///< a complete checkpoint cannot be read
    double disk_full = 0;         ///< a writer never reports its part
};

struct Schedule {
    std::uint64_t seed = 0;
    ControllerConfig job;
    int spawned = 0;                      ///< workers at the start; at least job.initial_workers
    std::array<double, kMoments> odds{};  ///< probability of a fault at each moment
    int strikes = 0;                      ///< faults at moments, at most
    double replacement_odds = 0;          ///< that a killed worker is replaced
    double slowest_message = 5;           ///< virtual time units
    double slowest_detection = 30;
    double slowest_write = 8;  ///< one part of a checkpoint
    double hang_timeout = 80;
    std::vector<TimedFault> faults;
    FaultOdds fault_odds;
};

Schedule draw_schedule(std::uint64_t seed);

/// What became of one schedule, in virtual time or live. The counts add up over schedules.
struct Outcome {
    bool ok = false;
    std::string why;  ///< the first broken rule; empty: none
    /// "commits", "discarded", "fallbacks", "retries", "evictions", "bad_checkpoints" and the like,
    /// and "fault.KIND" for every kind of fault that struck. In virtual time also "finished" (1:
    /// all steps done; 0: rightly given up).
    std::map<std::string, long> counts;
    std::string faults;  ///< live: the system and its fault plan, as text
};

/// Runs the schedule of a seed in virtual time. `controller`: other settings than the rules assume,
/// for tests of the rules; null: the schedule's own.
Outcome run_virtual_schedule(std::uint64_t seed, const ControllerConfig* controller = nullptr);

}  // namespace assay::lazarus::campaign
