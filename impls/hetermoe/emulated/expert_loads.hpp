// Loads of experts that differ, and which of the experts are the ones that move.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/hetermoe/emulated/paced_step.hpp"
#include "suite/base/describe.hpp"

namespace assay::hetermoe {

/// Zipf's law: the i-th most wanted expert of a layer gets a share of its rows that goes with
/// i^-skew, but none more than 1 / top_k, as many as there can be, since a token chooses an expert
/// once. Which one is the i-th is drawn for every layer. [layer][expert]; a layer sums to 1.
std::vector<std::vector<double>> zipf_loads(int layers, int experts, double skew, int top_k,
                                            std::uint64_t seed);

/// Of each expert GPU: the last ones, as expert_map.hpp has it, which knows of no loads; those with
/// the most rows; those with the fewest. balanced: any expert may be anywhere, as many on every GPU
/// as before; heaviest first, each goes to the GPU that is then done first, attention GPUs starting
/// with their attention (longest processing time first, Graham 1969, with slots).
enum class MovedExperts { last, hottest, coldest, balanced };
ASSAY_NAMES(MovedExperts, last, hottest, coldest, balanced)

/// Renames the experts of a step's loads, so that those move which its layout moves anyway.
void choose_moved(PacedStep& step, MovedExperts which);

}  // namespace assay::hetermoe
