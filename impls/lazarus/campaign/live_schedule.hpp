// One schedule of the live campaign: paced workers, a seeded fault plan over every kind, one of the
// competing systems.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace assay::lazarus {

struct LiveScheduleResult {
    bool ok = false;
    std::string why;     ///< the first rule that was broken
    std::string system;  ///< lazarus, spread, compact, ds, ds_ft
    std::string faults;  ///< the plan, canonical text
    std::map<std::string, long> counts;
};

/// Checks afterwards: the training finished; its lineage has every step once; the final state
/// equals, bit for bit, that of a run in which the same members came and went by plan; no process
/// is left behind. `scratch` is a folder of its own. Makes a fork server: call it before anything
/// starts threads in this process, once.
LiveScheduleResult run_live_schedule(std::uint64_t seed, const std::filesystem::path& corpus,
                                     const std::filesystem::path& scratch);

}  // namespace assay::lazarus
