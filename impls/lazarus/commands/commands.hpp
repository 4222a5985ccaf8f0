// The commands of Lazarus.
//   assay plan lazarus:     replica counts, placement and recovery probabilities for the user's own
//                           loads
//   assay campaign lazarus: seeded schedules of faults against the controller, in virtual time and
//                           with live processes; every rule of the protocol is checked in each
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "impls/lazarus/campaign/schedule.hpp"
#include "suite/experiment/system.hpp"

namespace assay::lazarus {

std::unique_ptr<Command> make_plan_command();

/// Runs the schedule of a seed and checks every rule.
using RunSchedule = std::function<campaign::Outcome(std::uint64_t seed)>;

/// `run_live`: with live processes; empty: this build or machine cannot. `run_virtual`: in virtual
/// time; empty: the real one (campaign/schedule.hpp); tests put in another.
std::unique_ptr<Command> make_campaign_command(RunSchedule run_live = {},
                                               RunSchedule run_virtual = {});

/// Seeds as typed: "17" or "1..20". Throws UserError with a sentence.
struct SeedRange {
    std::uint64_t first = 1, last = 1;
};
SeedRange parse_seed_range(const std::string& text);

}  // namespace assay::lazarus
