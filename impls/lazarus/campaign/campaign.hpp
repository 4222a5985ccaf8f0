// One schedule of the campaign in virtual time, told in numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "impls/lazarus/campaign/schedule.hpp"

namespace assay::lazarus::campaign {

/// What became of one schedule. The counts add up over schedules.
struct Outcome {
    bool ok = false;
    std::string why;  ///< the first broken rule; empty: none
    /// "commits", "discarded", "reconfigurations", "fallbacks", "retries", "evictions",
    /// "bad_checkpoints", "waits", "finished" (1: all steps done; 0: rightly given up), and
    /// "fault.KIND" for every kind of fault that struck.
    std::map<std::string, long> counts;
};

/// Runs the schedule of a seed. `controller`: other settings than the rules assume, for tests of
/// the rules; null: the schedule's own.
Outcome run_virtual_schedule(std::uint64_t seed, const ControllerConfig* controller = nullptr);

}  // namespace assay::lazarus::campaign
