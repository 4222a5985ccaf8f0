// Seeded schedules of faults against engines in processes of their own, all of them real.
#pragma once

#include <cstdint>
#include <string>

#include "impls/plato/campaign/misdeed.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::plato {

/// One or two questions, two or three engines with SmolLM2 where it is here, else with a small
/// random decoder whose steps are paced; two to five faults, one of a kind that the seed says. At
/// all levels of reuse. `mode`: of the controller, empty: drawn.
///
/// Rules, checked in every schedule: no node starts before its line is out and what it waits for
/// has ended; every part is answered exactly once; its ids and log-probabilities are those of one
/// engine in this process without faults, linked nodes' (L3), too; a damaged state is refused; in
/// the end no engine holds a block, and all leave in order.
///
/// Forks: to be called in a process with one thread.
drive::SeedOutcome run_live_schedule(std::uint64_t seed, const std::string& mode = {},
                                     Misdeed misdeed = Misdeed::none);

}  // namespace assay::plato
