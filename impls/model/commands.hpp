// The subcommands of `assay model`, each in a file of its own.
#pragma once

#include <memory>

#include "suite/experiment/system.hpp"

namespace assay::model {

std::unique_ptr<Command> make_show_command();
std::unique_ptr<Command> make_eval_command();
std::unique_ptr<Command> make_generate_command();

}  // namespace assay::model
