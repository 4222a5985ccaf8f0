// What systems there are: the window links none and asks the program that has them.
#pragma once

#include <filesystem>
#include <string>

#include "suite/experiment/system.hpp"

namespace assay::gui {

/// The program `assay`: beside this one, else the first in PATH. Throws UserError.
std::filesystem::path find_assay();

/// What `assay describe all --catalogue` tells. Throws UserError, with what it said where it
/// failed.
Registry ask_catalogue(const std::filesystem::path& assay);

}  // namespace assay::gui
