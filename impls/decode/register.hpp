// The inference engine's own experiments and campaign: they reproduce no paper.
#pragma once

#include "suite/experiment/system.hpp"

namespace assay::decode {

/// Claims are read from datasets/claims/decode.toml. Throws UserError when the folder of data sets
/// is not found, ClaimFileError when the file is malformed.
System make_system(Claims claims = Claims::read);

}  // namespace assay::decode
