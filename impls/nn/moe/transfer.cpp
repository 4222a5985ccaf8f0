#include "impls/nn/moe/transfer.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "impls/nn/all_to_all.hpp"

namespace assay::nn {

TransferReport transfer_blocks(std::vector<BlockMove> moves, cluster::Communicator& comm,
                               MoeState& state) {
    TransferReport report;
    if (moves.empty()) return report;
    // One order known to both ends.
    std::sort(moves.begin(), moves.end(), [](const BlockMove& a, const BlockMove& b) {
        return std::tie(a.from, a.to, a.key) < std::tie(b.from, b.to, b.key);
    });
    const auto ranks = static_cast<std::size_t>(comm.size());
    std::vector<std::int64_t> send_counts(ranks, 0), recv_counts(ranks, 0);
    std::vector<at::Tensor> outgoing;
    std::vector<ParameterBlock*> incoming;  // by sender, as they arrive
    std::vector<BlockKey> received_keys;
    std::vector<std::int64_t> sent_seals, send_blocks(ranks, 0), recv_blocks(ranks, 0);
    for (const auto& move : moves) {
        if (move.from == comm.rank()) {
            const auto* block = state.find(move.key);
            if (!block)
                throw std::logic_error("asked to send " + block_name(move.key) + ", not held");
            for (const auto& part : block->state()) outgoing.push_back(part);
            send_counts[static_cast<std::size_t>(move.to)] += block->state_count();
            ++send_blocks[static_cast<std::size_t>(move.to)];
            sent_seals.push_back(static_cast<std::int64_t>(state.sealed(move.key)));
        }
        if (move.to == comm.rank()) {
            auto& block = state.make_or_get(move.key);
            incoming.push_back(&block);
            received_keys.push_back(move.key);
            recv_counts[static_cast<std::size_t>(move.from)] += block.state_count();
            ++recv_blocks[static_cast<std::size_t>(move.from)];
        }
    }
    const auto options = at::TensorOptions().dtype(state.model().dtype);
    const auto sent = outgoing.empty() ? at::empty({0}, options) : at::cat(outgoing);
    const auto total = std::accumulate(recv_counts.begin(), recv_counts.end(), std::int64_t{0});
    const auto received = at::empty({total}, options);
    comm.all_to_all_v(sent.data_ptr(), send_counts, received.data_ptr(), recv_counts,
                      dtype_of(received));
    // A block keeps the seal that it had at its sender: damage there or on the way shows here.
    std::vector<std::int64_t> seals(received_keys.size());
    comm.all_to_all_v(sent_seals.data(), send_blocks, seals.data(), recv_blocks,
                      cluster::Dtype::i64);
    std::int64_t offset = 0;
    for (auto* block : incoming) {
        for (auto part : block->state()) {
            part.copy_(received.narrow(0, offset, part.numel()));
            offset += part.numel();
        }
    }
    for (std::size_t i = 0; i < seals.size(); ++i)
        state.seal(received_keys[i], static_cast<std::uint64_t>(seals[i]));
    report.blocks_received = static_cast<long>(incoming.size());
    report.bytes_received = static_cast<std::int64_t>(received.nbytes());
    return report;
}

}  // namespace assay::nn
