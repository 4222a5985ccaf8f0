#include "impls/lazarus/training/state_transfer.hpp"

#include <map>

namespace assay::lazarus {
namespace {

// Everything that travels.
std::vector<nn::BlockMove> moves_of(const Reconfigure& plan) {
    std::map<Worker, int> rank;
    for (std::size_t i = 0; i < plan.members.size(); ++i)
        rank[plan.members[i]] = static_cast<int>(i);
    std::vector<nn::BlockMove> moves;
    for (std::size_t i = 0; i < plan.need_dense.size(); ++i)
        moves.push_back(
            {rank.at(plan.dense_sources.at(i)), rank.at(plan.need_dense[i]), dense_key});
    for (const auto& t : plan.transfers)
        moves.push_back({rank.at(t.from), rank.at(t.to), {t.layer, t.expert}});
    return moves;
}

}  // namespace

nn::TransferReport transfer_state(const Reconfigure& plan, cluster::Communicator& comm,
                                  Trainer& trainer) {
    return nn::transfer_blocks(moves_of(plan), comm, trainer);
}

}  // namespace assay::lazarus
