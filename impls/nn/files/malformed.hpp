// How the readers of this folder refuse a file.
#pragma once

#include <string>
#include <string_view>

namespace assay::nn {

/// Throws UserError "FILE: WHAT".
[[noreturn]] void malformed(std::string_view file, std::string_view what);

/// A name out of a file for a message: in quotes, at most 80 bytes of it, all but printable ASCII
/// as \xNN.
std::string shown(std::string_view name);

}  // namespace assay::nn
