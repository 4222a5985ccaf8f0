// What one seed of the campaign stands for: the job, the speeds, and the faults.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "impls/lazarus/policy/protocol.hpp"

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
    enum class Kind { kill, kill_two, hang, short_hang, join, leave } kind;
    double at;
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
};

Schedule draw_schedule(std::uint64_t seed);

}  // namespace assay::lazarus::campaign
