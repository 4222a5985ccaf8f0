// Stored weights as doubles, one at a time and from the formats' definitions; and random ones. For
// tests and benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/assay_kernels.h"

namespace assay::kernels::reference {

/// IEEE 754 binary16.
double from_half(std::uint16_t bits);
/// The weight `column` of a row.
double weight_at(AssayType type, const std::byte* row, std::int64_t column);

/// `rows` rows of random weights of magnitude below 1 (q types: scales below 2^-5, so that weights
/// are of magnitude about 1). The first `skip` bytes are left out, so that weights can be
/// unaligned.
std::vector<std::byte> random_weights(AssayType type, std::int64_t rows, std::int64_t columns,
                                      std::mt19937_64& random, std::size_t skip = 0);
/// Fills with the same, in place.
void fill_with_random_weights(AssayType type, std::byte* to, std::size_t bytes,
                              std::mt19937_64& random);
/// Uniform in [-1, 1).
std::vector<float> random_floats(std::size_t count, std::mt19937_64& random);

}  // namespace assay::kernels::reference
