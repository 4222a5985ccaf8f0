// Whether what claims need (Claim::needs) is on this machine.
#pragma once

#include <string>

#include "suite/data/catalog.hpp"

namespace assay::data {

/// "gpu": a GPU answers. "trace:smartmoe": the data set that serves it has been fetched. What no
/// entry of the catalogue serves ("weights", "cluster") is not here.
bool is_here(const std::string& need);

/// The entry of the catalogue that serves the need; null where there is none.
const Entry* serving(const std::string& need);

}  // namespace assay::data
