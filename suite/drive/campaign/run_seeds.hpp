// Many seeds of one mode, in several processes at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "suite/cluster/processes/signal_watch.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::drive {

struct SeedsToRun {
    SeedRange seeds;
    std::string variant;     ///< empty: the seed decides
    int jobs = 0;            ///< processes at once; 0: the mode's
    bool fail_fast = false;  ///< nothing is told of seeds after the first that fails
};

struct SeedListener {
    /// Hears of every seed, in their order, however many processes there are.
    std::function<void(std::uint64_t seed, const SeedOutcome&)> on_outcome;
    /// … and how many are done, earlier than that.
    std::function<void(std::uint64_t done)> on_progress;
};

enum class SeedsEnd { all_done, failed_fast, interrupted };

/// Forks: call it in a process with one thread, after CampaignMode::prepare. A signal that
/// `signals` has interrupts: what is done by then has been told of, the rest is killed. Throws
/// std::system_error where no process is to be had.
SeedsEnd run_seeds(const CampaignMode&, const SeedsToRun&, cluster::SignalWatch& signals,
                   const SeedListener&);

}  // namespace assay::drive
