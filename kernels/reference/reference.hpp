// The kernels in double precision, from the formats' definitions, with bounds for the error of
// 32-bit sums; and random weights. For tests and benchmarks.
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

// GEMV and router in double precision, with bounds of what 32-bit sums may differ by.

/// A value and how far a 32-bit result may lie from it.
struct Bounded {
    double value = 0;
    double error = 0;
};

/// weights row · x. The bound: every product passes through at most columns / 16 additions of its
/// partial sum and at most twelve that join partial sums, or roundings of its own and of its
/// weight, each of half a unit in the last place.
Bounded dot(AssayType type, const std::byte* row, const float* x, int columns);

Bounded gemv_row(const AssayGemv& call, int row, int token);
/// [batch][rows]
std::vector<Bounded> gemv(const AssayGemv& call);

// The sparse feed-forward network in double precision, with bounds.

/// [batch][width]
std::vector<Bounded> sparse_ffn(const AssaySparseFfn& call);

}  // namespace assay::kernels::reference
