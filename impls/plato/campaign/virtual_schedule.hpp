// Seeded schedules of faults against the controller, in virtual time.
#pragma once

#include <cstdint>
#include <string>

#include "impls/plato/campaign/virtual_answers.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::plato {

/// One to four questions, one to three engines, up to eight faults, all drawn; `mode`: of the
/// controller, empty: drawn.
VirtualSetup draw_setup(std::uint64_t seed, const std::string& mode = {});

/// Rules, checked in every schedule: no node starts before its line is out and what it waits for
/// has ended; every part is answered exactly once; its ids and log-probabilities are those of one
/// engine without faults; a damaged report is refused; in the end no engine holds a block.
drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, const std::string& mode = {},
                                        Misdeed misdeed = Misdeed::none);

}  // namespace assay::plato
