// `assay plan lte`: what sparse feed-forward networks would save a model of the user's.
#pragma once

#include <memory>

#include "suite/experiment/system.hpp"

namespace assay::lte {

std::unique_ptr<Command> make_plan_command();

}  // namespace assay::lte
