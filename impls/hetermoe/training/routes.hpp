// How the rows of one micro-batch travel in one layer between the ranks of a zebra group: dropless,
// so counts go first, then as many rows as there are.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "impls/nn/parameter_block.hpp"
#include "suite/cluster/collectives/communicator.hpp"

namespace assay::hetermoe {

/// Where the experts of a layer live: the rank, within the group, of each. Attention ranks, which
/// alone have rows to send, come first.
struct LayerHomes {
    int attention_ranks = 0;
    std::vector<int> home;

    std::vector<int> experts_of(int rank) const;  ///< ascending
};

/// What an attention rank sends: its choices, by home, then by expert, then as they come.
struct Outgoing {
    at::Tensor order;                     ///< [choices]: which choice lies at each place
    at::Tensor places;                    ///< [choices]: the place of each; its inverse
    std::vector<std::int64_t> rows;       ///< to each rank
    std::vector<std::int64_t> by_expert;  ///< counts of the experts of rank 0, rank 1 …
};
/// chosen: [rows, top_k], int64.
Outgoing address(const at::Tensor& chosen, const LayerHomes& homes, int ranks);
/// Of a rank that has no rows to send.
Outgoing nothing_to_send(int ranks);

/// What a rank receives, and how it is sorted by its experts.
struct Incoming {
    std::vector<std::int64_t> rows;       ///< from each rank
    at::Tensor order;                     ///< [received]: row of each place, expert by expert
    at::Tensor places;                    ///< its inverse
    std::vector<std::int64_t> by_expert;  ///< rows of each expert held here
};
/// Collective over the group; counts lie in the host's memory, `order` and `places` on `device`.
/// Throws cluster::CommunicatorBroken.
Incoming exchange_counts(const Outgoing& outgoing, const LayerHomes& homes,
                         cluster::Communicator& comm, at::Device device = at::kCPU);

/// The experts of one layer on one rank. Their blocks' gradients are added to by backward().
class HeldExperts {
  public:
    explicit HeldExperts(std::vector<const nn::ParameterBlock*> blocks)
        : blocks_(std::move(blocks)) {}

    /// rows: [received, width], as they came. Returns their outputs in that order, without a graph.
    at::Tensor forward(const Incoming& incoming, const at::Tensor& rows) const;
    /// Computes the forward pass again. Returns the gradients of the rows.
    at::Tensor backward(const Incoming& incoming, const at::Tensor& rows,
                        const at::Tensor& output_gradients) const;

  private:
    at::Tensor outputs(const Incoming& incoming, const at::Tensor& rows) const;
    std::vector<const nn::ParameterBlock*> blocks_;
};

}  // namespace assay::hetermoe
