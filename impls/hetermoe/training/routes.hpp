// How the rows of one micro-batch travel in one layer between the ranks of a zebra group. Dropless:
// as many rows as there are, with their counts in front. With fixed capacity every expert is sent
// equally many, filled up with zeros, and nobody has to be told.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "impls/nn/moe/gpt.hpp"
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
    at::Tensor order;   ///< [sent]: which choice lies at each place; their number: none, zeros
    at::Tensor places;  ///< [choices]: the place of each; the number of places: it was dropped
    std::vector<std::int64_t> rows;       ///< to each rank
    std::vector<std::int64_t> by_expert;  ///< counts of the experts of rank 0, rank 1 …
    bool dropless = true;

    /// choices: [choices, width]. Returns them as they are sent.
    at::Tensor sent(const at::Tensor& choices) const;
    /// What came back for what was sent, by choice; zeros for those dropped.
    at::Tensor came_back(const at::Tensor& rows) const;
};
/// What is chosen, and with fixed capacity what of it finds room.
struct Choices {
    at::Tensor chosen;           ///< [rows, top_k], int64
    at::Tensor kept;             ///< [rows, top_k], bool; undefined: dropless
    std::int64_t rows_each = 0;  ///< sent to every expert where capacity is fixed
};
Outgoing address(const Choices& choices, const LayerHomes& homes, int ranks);
/// Of a rank that has no rows to send.
Outgoing nothing_to_send(int ranks);

/// What a rank receives, and how it is sorted by its experts.
struct Incoming {
    std::vector<std::int64_t> rows;       ///< from each rank
    at::Tensor order;                     ///< [received]: row of each place, expert by expert
    at::Tensor places;                    ///< its inverse
    std::vector<std::int64_t> by_expert;  ///< rows of each expert held here
};
struct Delivery {
    Incoming incoming;
    at::Tensor rows;  ///< [received, width]
};
/// Dropless: `rows` as `outgoing` says, of which the receivers know nothing before. Collective over
/// the group. Throws cluster::CommunicatorBroken. Rows in the host's memory travel in one message
/// with their counts; a GPU's after them, which the host has to see.
Delivery deliver(const Outgoing& outgoing, const at::Tensor& rows, const LayerHomes& homes,
                 cluster::Communicator& comm);
Delivery deliver_at_once(const Outgoing& outgoing, const at::Tensor& rows, const LayerHomes& homes,
                         cluster::Communicator& comm);
Delivery deliver_after_counts(const Outgoing& outgoing, const at::Tensor& rows,
                              const LayerHomes& homes, cluster::Communicator& comm);
/// Where capacity is fixed: `rows_each` for every expert from each attention rank.
Incoming fixed_counts(const std::vector<std::int64_t>& rows_each, const LayerHomes& homes, int rank,
                      int ranks, at::Device device);

/// The experts of one layer on one rank. Their blocks' gradients are added to by backward().
class HeldExperts {
  public:
    explicit HeldExperts(std::vector<const nn::ParameterBlock*> blocks,
                         nn::MoeShape shape = nn::MoeShape::gpt)
        : blocks_(std::move(blocks)), shape_(shape) {}

    /// rows: [received, width], as they came. Returns their outputs in that order, without a graph.
    at::Tensor forward(const Incoming& incoming, const at::Tensor& rows) const;
    /// Computes the forward pass again. Returns the gradients of the rows.
    at::Tensor backward(const Incoming& incoming, const at::Tensor& rows,
                        const at::Tensor& output_gradients) const;

  private:
    at::Tensor outputs(const Incoming& incoming, const at::Tensor& rows) const;
    std::vector<const nn::ParameterBlock*> blocks_;
    nn::MoeShape shape_;
};

}  // namespace assay::hetermoe
