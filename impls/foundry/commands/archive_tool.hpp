// `assay archive`: graphs and their kernels into an archive, and out of one again.
#pragma once

#include "suite/experiment/system.hpp"

namespace assay::foundry {

Tool make_archive_tool();

}  // namespace assay::foundry
