// One seed of `assay campaign foundry --mode live`: a saver and servers as processes on the fake
// driver, of one or two types of GPU, under the faults that the seed draws.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "impls/foundry/live/course.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::foundry {

/// The first rule that the end of a course breaks; empty: none. Each request is served with the
/// reference's tokens; beside the archives nothing is left; an archive is whole, unless it
/// `may_be_damaged`; where none is whole no graph was restored, and why not was said.
std::string broken_rule(const LiveCourse& course, const LiveOutcome& outcome, bool may_be_damaged);

/// Not ok where a rule is broken. `scratch`: an empty folder.
drive::SeedOutcome run_live_schedule(std::uint64_t seed, const std::filesystem::path& scratch);

}  // namespace assay::foundry
