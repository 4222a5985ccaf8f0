// What `assay --version` prints.
#pragma once

#include <string>

namespace assay::cli {

/// Version, commit, compiler, and each optional part that this build lacks.
std::string version_text();

}  // namespace assay::cli
