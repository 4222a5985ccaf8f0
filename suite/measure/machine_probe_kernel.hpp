// A plain blocked fp32 matrix product: what this machine's processors reach without a library.
#pragma once

#include <string_view>

namespace assay::measure {

/// n must be a positive multiple of this.
constexpr int blocked_matmul_step = 48;

/// c += a · b; square, row-major, n × n; 32-bit floats. Uses the widest vectors this processor has.
/// std::invalid_argument for an n that is no multiple of blocked_matmul_step.
void blocked_matmul(const float* a, const float* b, float* c, int n);

/// The vectors it uses here: "AVX-512", "AVX2 and FMA" or "baseline vectors".
std::string_view blocked_matmul_vectors();

}  // namespace assay::measure
