// Gather and squeeze, the paper's Algorithm 1: which layers give experts back to attention GPUs, so
// that these fill the bubbles in which they would wait for expert GPUs (section 4.2, Algorithm 1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "impls/hetermoe/policy/profile.hpp"
#include "suite/base/describe.hpp"

namespace assay::hetermoe {

/// How experts are offloaded. published: Algorithm 1 as the paper's prose has it; printed: with n1
/// and n2 exchanged in T_s, as the formula is printed; search: ours, the best that was found; off:
/// every expert stays on an expert GPU.
enum class Asym { published, printed, search, off };
ASSAY_NAMES(Asym, published, printed, search, off)

/// Experts move in chunks, the same number from each expert GPU to each attention GPU: M·n1 = N·n2.
struct Chunks {
    int taken = 0;           ///< n1: experts that an attention GPU takes
    int given = 0;           ///< n2: experts that an expert GPU gives up
    int per_layer = 0;       ///< chunks that a layer has at most
    std::int64_t least = 0;  ///< of all layers: what does not fit on the expert GPUs …
    std::int64_t most = 0;   ///< … and what does on the attention GPUs; below `least`: infeasible
};

/// Nothing where neither of M and N divides the other: no experts move then. The number of expert
/// GPUs must divide that of experts.
std::optional<Chunks> chunks_of(const TrainingProfile& profile, const Group& group);

/// Whether every expert has a place where none moves.
bool fits_unmoved(const TrainingProfile& profile, const Group& group);

/// Algorithm 1: the chunks of each layer. `asym` is published or printed; chunks.least may not be
/// above chunks.most.
std::vector<int> squeeze(const TrainingProfile& profile, const Group& group, const Chunks& chunks,
                         Asym asym);

/// Experts that each expert GPU offloads in each layer.
std::vector<int> offload_of(const std::vector<int>& chunks_per_layer, const Chunks& chunks);

}  // namespace assay::hetermoe
