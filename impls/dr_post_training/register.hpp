// What Dr. Post-Training brings to the application.
#pragma once

#include "suite/experiment/system.hpp"

namespace assay::dr_post_training {

/// Claims are read from datasets/claims/dr_post_training.toml. Throws UserError when the folder of
/// data sets is not found, ClaimFileError when the file is malformed.
System make_system(Claims claims = Claims::read);

}  // namespace assay::dr_post_training
