// What the user names on the command line: a path, or a data set of `assay data`.
#pragma once

#include <filesystem>
#include <string>

#include "suite/data/catalog.hpp"

namespace assay::model {

/// A path that exists, or the fetched file of a data set of this kind. Throws UserError: no such
/// file, a data set of another kind, one that has not been fetched (says how to).
std::filesystem::path locate_file(const std::string& name, data::Kind kind);

}  // namespace assay::model
