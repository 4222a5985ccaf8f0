// Weights that are as good as random for speed: a million of them, for whoever times kernels to
// repeat, since gigabytes of fresh ones would take long and run no differently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/assay_kernels.h"

namespace assay::kernels {

/// Of magnitude up to 2^-5 (q types: about as large), none of them denormal, which would slow
/// arithmetic down. A function of type and seed. Their number is a prime times 32, so that a matrix
/// which repeats them has no two equal rows that are near each other.
std::vector<std::byte> random_weight_pattern(AssayType type, std::uint64_t seed);

/// Fills memory with copies of the pattern, the last one cut off.
void repeat_pattern(std::span<const std::byte> pattern, std::span<std::byte> memory);

}  // namespace assay::kernels
