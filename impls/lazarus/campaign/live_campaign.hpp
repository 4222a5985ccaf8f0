// The live half of `assay campaign lazarus`: schedules of faults on paced workers, each in a
// process of its own.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/lazarus/campaign/schedule.hpp"

namespace assay::lazarus {

/// One of the competing systems under a seeded fault plan over every kind; in the module of
/// tensors. Checks afterwards: the training finished; its lineage has every step once; the final
/// state equals, bit for bit, that of a run in which the same members came and went by plan; no
/// process is left behind. `scratch` is a folder of its own. Makes a fork server: call it before
/// anything starts threads in this process, once.
campaign::Outcome run_live_schedule(std::uint64_t seed, const std::filesystem::path& corpus,
                                    const std::filesystem::path& scratch);

/// Forks a process that runs the schedule of `seed`, and waits for what it finds. Throws
/// NotSupportedHere where there is no text to train on.
campaign::Outcome run_live_campaign(std::uint64_t seed);

}  // namespace assay::lazarus
