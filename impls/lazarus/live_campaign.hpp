// The live half of `assay campaign lazarus`: each schedule in a process of its own.
#pragma once

#include <filesystem>

#include "impls/lazarus/campaign_command.hpp"

namespace assay::lazarus {

/// Forks a process for the schedule of `seed` and waits for what it finds
/// (campaign/live_schedule.hpp). Throws NotSupportedHere where there is no text to train on.
LiveOutcome run_live_campaign(std::uint64_t seed);

}  // namespace assay::lazarus
