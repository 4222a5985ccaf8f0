// `assay campaign lazarus`: seeded schedules of faults against the controller, in virtual time and
// with live processes; every rule of the protocol is checked in each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "suite/experiment/system.hpp"

namespace assay::lazarus {

/// What became of one schedule run with live processes.
struct LiveOutcome {
    bool ok = false;
    std::string why;  ///< the first broken rule
    std::map<std::string, long> counts;
    std::string faults;  ///< the fault plan, as text
};

/// Runs the live schedule of a seed; empty: this build or machine cannot.
using RunLive = std::function<LiveOutcome(std::uint64_t seed)>;

/// One schedule in virtual time: whether every rule held, why not, and counts
/// (campaign/campaign.hpp).
using RunVirtual = std::function<LiveOutcome(std::uint64_t seed)>;

/// `run_virtual`: empty: the real one; tests put in another.
std::unique_ptr<Command> make_campaign_command(RunLive run_live = {}, RunVirtual run_virtual = {});

/// Seeds as typed: "17" or "1..20". Throws UserError with a sentence.
struct SeedRange {
    std::uint64_t first = 1, last = 1;
};
SeedRange parse_seed_range(const std::string& text);

}  // namespace assay::lazarus
