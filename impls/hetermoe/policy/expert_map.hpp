// Where each expert lives.
#pragma once

#include <vector>

#include "impls/hetermoe/policy/profile.hpp"

namespace assay::hetermoe {

/// The GPU of each expert of a layer: attention GPUs are 0 … M-1, expert GPUs M … M+N-1. Expert GPU
/// e begins with the experts e·n/N … (e+1)·n/N - 1 and keeps the first n/N - `offload` of them; the
/// others, in order, are dealt to the attention GPUs in equal blocks. N divides n, and M the number
/// of those that move. A group without expert GPUs, N = 0, is expert parallelism: attention GPUs
/// have as equal shares of them as can be.
std::vector<int> homes(int experts, const Group& group, int offload);

}  // namespace assay::hetermoe
