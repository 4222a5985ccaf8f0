// Ours: the offload with the shortest step instead of Algorithm 1's.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "impls/hetermoe/policy/squeeze.hpp"
#include "impls/hetermoe/policy/timeline.hpp"

namespace assay::hetermoe {

/// Up to so many vectors of chunks are all tried.
constexpr int most_vectors = 4096;
/// Of more, so many steps are computed.
constexpr int most_steps = 128;

/// Calls visit(chunks per layer) for every vector of `layers` within the bounds: those that move
/// fewer first, equal ones in lexicographic order. Stops when visit returns false.
void for_each_vector(int layers, const Chunks& chunks,
                     const std::function<bool(const std::vector<int>&)>& visit);

/// The chunks per layer with the shortest step; of equals the fewest, then the lexicographically
/// smallest. Of more than most_vectors not all are tried: the search then begins with the better of
/// `published` and of moving nothing, and moves one chunk from or to a layer, or to a neighbouring
/// one, as long as that is better.
std::vector<int> search_squeeze(const TaskTimes& times, int micro_batches, const Chunks& chunks,
                                const std::vector<int>& published);

}  // namespace assay::hetermoe
