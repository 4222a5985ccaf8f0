// What is wrong with the machine, told before something is measured on it.
#pragma once

#include <optional>
#include <string>

#include "suite/runner/runner.hpp"

namespace assay::cli {

/// Where the plan measures or emulates something: prints the machine's warnings as short lines on
/// standard error and returns their names ("load, governor"; empty: none), for the session's
/// record. Takes a fifth of a second. Nothing is stopped by a warning. nullopt: nothing is
/// measured, and nothing was looked at.
std::optional<std::string> warnings_before_run(const runner::Plan& plan);

}  // namespace assay::cli
