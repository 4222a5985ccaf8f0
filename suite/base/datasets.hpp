// Where the data files that the program reads at run time are: claims, scenarios, traces.
#pragma once

#include <filesystem>

namespace assay {

/// The folder `datasets`: $ASSAY_DATASETS, else the nearest one above the running program (or in
/// share/assay beside its bin), else the source tree it was built from. Throws UserError when none
/// holds claims, or when $ASSAY_DATASETS names a folder that does not.
std::filesystem::path datasets_dir();

}  // namespace assay
