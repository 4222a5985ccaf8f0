// `assay plan plato`.
#pragma once

#include <memory>

#include "suite/experiment/system.hpp"

namespace assay::plato {

std::unique_ptr<Command> make_plan_command();

}  // namespace assay::plato
