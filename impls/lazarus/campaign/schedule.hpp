// What one seed of the campaign stands for (the job, the speeds, and the faults), and what becomes
// of it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "impls/lazarus/simulated/trouble.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus::campaign {

constexpr std::size_t kMoments = static_cast<std::size_t>(Moment::count);

/// Faults of workers that stay alive, of links and of storage: the probability of each where it can
/// happen.
struct FaultOdds {
    double nan = 0;               ///< a step's sums are not finite
    double nan_again = 0;         ///< … and so at the next try
    double corrupt_tensor = 0;    ///< a worker's state changes before it looks at it again
    double corrupt_step = 0;      ///< a damaged message breaks a step's group
    double corrupt_transfer = 0;  ///< … a state on its way
    double cut_link = 0;          ///< a member cannot be reached: in a step, or building a group
    double broken_group = 0;      ///< a group breaks and nobody knows why
    double torn = 0;              ///< a part of a checkpoint cannot be read
    double disk_full = 0;         ///< a writer never reports its part
};

/// Times have no unit of their own: what counts is which is longer.
struct Schedule {
    std::uint64_t seed = 0;
    ControllerConfig job;
    int spawned = 0;                      ///< workers at the start; at least job.initial_workers
    std::array<double, kMoments> odds{};  ///< probability of a fault at each moment
    int strikes = 0;                      ///< faults at moments, at most
    double replacement_odds = 0;          ///< that a killed worker is replaced
    double slowest_message = 5;
    double slowest_detection = 30;
    double slowest_write = 8;  ///< one part of a checkpoint
    double silence = 80;       ///< after which a frozen worker is taken for dead
    double patience = 200;     ///< of suspicion: shorter than a detection, it suspects too early
    double endurance = 300;    ///< of a worker in a collective: shorter than a step, it gives up;
                               ///< infinity: it waits until it is told to stop
    /// Kills, hangs, notices, joins, slow workers and bad links, at times.
    FaultPlan faults;
    FaultOdds fault_odds;
};

/// `system`: which of the competing systems it is for (policy/rivals/systems.hpp); empty: the seed
/// decides. Throws UserError for others.
Schedule draw_schedule(std::uint64_t seed, std::string_view system = {});

/// What became of one schedule, in virtual time or live. The counts add up over schedules.
struct Outcome {
    bool ok = false;
    std::string why;  ///< the first broken rule; empty: none
    /// "commits", "discarded", "fallbacks", "retries", "evictions", "bad_checkpoints" and the like,
    /// and "fault.KIND" for every kind of fault that struck. In virtual time also "finished" (1:
    /// all steps done; 0: rightly given up).
    std::map<std::string, long> counts;
    std::string faults;  ///< the fault plan, as text; live: after the system
};

/// Runs the schedule of a seed in virtual time. `controller`: other settings than the rules assume,
/// for tests of the rules; null: the schedule's own. `system`: as of draw_schedule().
Outcome run_virtual_schedule(std::uint64_t seed, const ControllerConfig* controller = nullptr,
                             std::string_view system = {});

}  // namespace assay::lazarus::campaign
