// What random problems are drawn from.
#pragma once

#include <random>

#include "kernels/assay_kernels.h"

namespace assay::kernels::reference {

inline constexpr AssayType all_types[] = {ASSAY_F32,  ASSAY_F16,  ASSAY_BF16,
                                          ASSAY_Q8_0, ASSAY_Q4_0, ASSAY_Q4_1};
inline constexpr AssayType plain_types[] = {ASSAY_F32, ASSAY_F16, ASSAY_BF16};

/// A whole number from `least` to `most`.
inline int draw(std::mt19937_64& random, int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
}

}  // namespace assay::kernels::reference
