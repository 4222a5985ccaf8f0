// `assay rl`: tasks with exact answers, and the arithmetic of an update, on JSON from standard
// input. For whoever checks another implementation, or this one.
#pragma once

#include <memory>

#include "suite/experiment/system.hpp"

namespace assay::rl {

Tool make_rl_tool();

// Its subcommands, each in a file of its own: prompts_command.cpp, …
std::unique_ptr<Command> make_prompts_command();
std::unique_ptr<Command> make_score_command();
std::unique_ptr<Command> make_advantages_command();
std::unique_ptr<Command> make_loss_command();

}  // namespace assay::rl
