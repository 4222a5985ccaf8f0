// What narrows a command to some cases of an experiment, as typed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::cli {

/// "model=gpt-l,gpt-s" → name and values, added to what the axis already has. UserError.
void add_axis(const std::string& text, std::map<std::string, std::vector<Value>>& axes);

Profile profile_named(const std::string& name);  ///< of --profile; UserError
Provenance mode_named(const std::string& name);  ///< of --mode; UserError

}  // namespace assay::cli
