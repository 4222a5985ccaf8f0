// `assay plan lazarus`: replica counts, placement and recovery probabilities for the user's own
// loads.
#pragma once

#include <memory>

#include "suite/experiment/system.hpp"

namespace assay::lazarus {

std::unique_ptr<Command> make_plan_command();

}  // namespace assay::lazarus
