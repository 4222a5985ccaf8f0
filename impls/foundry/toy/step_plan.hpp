// A decode step as data: its buffers, and what it launches, in order, with which parameters.
// decode_step.hpp gives that to a driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "impls/foundry/method/graphs/graph.hpp"
#include "impls/foundry/method/rank_patch.hpp"
#include "impls/foundry/toy/decode_settings.hpp"

namespace assay::foundry::toy {

/// An address in device memory, of whatever type a kernel takes there.
struct Address {
    std::uint64_t value = 0;

    template <class T>
    operator T*() const {
        return reinterpret_cast<T*>(value);
    }
    /// So many 64-bit words behind it.
    Address word(std::uint64_t words) const { return {value + 8 * words}; }
};

/// Symmetric memory of the ranks that decode a step together (device/rank_kernels.hpp).
struct RankHeaps {
    int rank = 0;              ///< this process
    Address first;             ///< rank 0's heap, at the same address in each process
    std::uint64_t stride = 0;  ///< bytes from one rank's heap to the next one's

    Address own() const { return {first.value + static_cast<std::uint64_t>(rank) * stride}; }
};
/// Bytes of one rank's heap.
std::uint64_t heap_bytes(const DecodeSettings& settings);
/// The words of kernels' parameters that are another rank's in its graphs.
std::vector<RankWord> rank_words();

/// Device memory of a step. All batch sizes share what these are, but for the activations and
/// row values.
struct StepBuffers {
    Address tokens, positions, block_table, batch, random;  ///< what the host sets
    Address output;                                         ///< the tokens sampled
    Address embedding, head;                                ///< weights
    Address partials, counters;           ///< of split attention; the counters 0 before a step
    std::vector<Address> weights, cache;  ///< of each layer
    Address activations, row_values;      ///< of one batch size
    RankHeaps heaps;                      ///< where there are several ranks
};

struct SharedBuffer {
    std::string name;
    std::uint64_t bytes;
    Address* address;  ///< in the StepBuffers given
};
/// In the order in which they are allocated.
std::vector<SharedBuffer> shared_buffers(const DecodeSettings& settings, StepBuffers& buffers);
/// Bytes of a batch size's own.
std::uint64_t activation_bytes(int batch);
std::uint64_t row_value_bytes(int batch);

/// Blocks of a sequence, at most: a row of the block table.
int table_blocks(const DecodeSettings& settings);
/// 64-bit words of a layer's weights.
constexpr int layer_words = 5 * 32;

/// A kernel, a memset to zero, or a memcpy within the device.
struct StepNode {
    NodeType type = NodeType::kernel;
    std::string kernel;
    Extent grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t shared_bytes = 0;
    std::uint32_t cluster = 1;                   ///< blocks, beside each other in x
    bool programmatic = false;                   ///< may start before the node before it ends
    bool branches = false;                       ///< the next one does not wait for it
    bool joins = false;                          ///< waits for the one that branched, too
    std::vector<std::vector<std::byte>> params;  ///< of a kernel
    Address to, from;                            ///< of the other two
    std::uint64_t bytes = 0;                     ///< a multiple of 4
};
std::vector<StepNode> step_nodes(const DecodeSettings& settings, int batch,
                                 const StepBuffers& buffers);

}  // namespace assay::foundry::toy
