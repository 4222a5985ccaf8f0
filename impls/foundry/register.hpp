// What Foundry brings to the application.
#pragma once

#include "suite/experiment/system.hpp"

namespace assay::foundry {

/// Claims are read from datasets/claims/foundry.toml. Throws UserError when the folder of data sets
/// is not found, ClaimFileError when the file is malformed.
System make_system(Claims claims = Claims::read);

}  // namespace assay::foundry
