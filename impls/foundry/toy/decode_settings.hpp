// What the toy decode step is made of: its sizes, from which batch sizes on its graph is another,
// and the weights.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "impls/foundry/method/graphs/topology_key.hpp"
#include "suite/base/describe.hpp"

namespace assay::foundry::toy {

struct DecodeSettings {
    int layers = 2;
    int vocabulary = 1000;
    int context = 128;  ///< positions of a sequence, a multiple of block_positions
    int cache_blocks = 64;
    int most_rows = 16;  ///< largest batch size
    /// Batch size from which attention is split: one more kernel in each layer.
    std::optional<int> split_from = {};
    /// Batch sizes from each of which the head's clusters have twice as many blocks: at most 3.
    std::vector<int> cluster_from = {};
    /// Batch size from which the sampler may start before the head ends.
    std::optional<int> programmatic_from = {};
    std::uint64_t seed = 1;  ///< of the weights
    /// Processes that decode together, each with a share of what attention gives.
    int ranks = 1;
};
ASSAY_FIELDS(DecodeSettings, layers, vocabulary, context, cache_blocks, most_rows, split_from,
             cluster_from, programmatic_from, seed, ranks)

/// Throws std::logic_error for settings of which no step can be made.
void check(const DecodeSettings& settings);

/// How a batch size is launched.
struct StepShape {
    bool split = false;
    int cluster = 1;  ///< blocks
    bool programmatic = false;

    auto operator<=>(const StepShape&) const = default;
};
StepShape shape_of(const DecodeSettings& settings, int batch);

/// A memset, a memcpy, and kernels: 4 a layer, one more where attention is split, two more where
/// there are several ranks, and 4 others.
int nodes_of_step(const DecodeSettings& settings, int batch);
/// As many as there are nodes: a chain, but for one kernel on a branch of its own.
inline int edges_of_step(const DecodeSettings& settings, int batch) {
    return nodes_of_step(settings, batch);
}
/// Into how many groups a key puts these batch sizes.
int topology_groups(const DecodeSettings& settings, std::span<const int> batches, Key key);

/// Tensors are counted: the embedding, the head's, its descriptor, then each layer's.
enum Tensor : int { embedding_tensor, head_tensor, descriptor_tensor, first_layer_tensor };
/// Word i of a tensor.
std::uint64_t weight(const DecodeSettings& settings, int tensor, int i);

/// What the sampler draws by, set before each step.
struct RandomState {
    std::uint64_t seed = 0, offset = 0;
};

}  // namespace assay::foundry::toy
