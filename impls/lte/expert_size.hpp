// How many neurons make one expert.
#pragma once

namespace assay::lte {

inline constexpr int expert_size = 32;  ///< neurons; the paper's

}  // namespace assay::lte
