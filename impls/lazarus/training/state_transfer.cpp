#include "impls/lazarus/training/state_transfer.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "impls/nn/all_to_all.hpp"

namespace assay::lazarus {
namespace {

struct Item {
    int from, to;  // ranks
    BlockKey key;
};

// Everything that travels, in one order known to both ends.
std::vector<Item> items_of(const Reconfigure& plan) {
    std::map<Worker, int> rank;
    for (std::size_t i = 0; i < plan.members.size(); ++i)
        rank[plan.members[i]] = static_cast<int>(i);
    std::vector<Item> items;
    for (std::size_t i = 0; i < plan.need_dense.size(); ++i)
        items.push_back(
            {rank.at(plan.dense_sources.at(i)), rank.at(plan.need_dense[i]), dense_key});
    for (const auto& t : plan.transfers)
        items.push_back({rank.at(t.from), rank.at(t.to), {t.layer, t.expert}});
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
        return std::tie(a.from, a.to, a.key) < std::tie(b.from, b.to, b.key);
    });
    return items;
}

}  // namespace

TransferReport transfer_state(const Reconfigure& plan, cluster::Communicator& comm,
                              Trainer& trainer) {
    TransferReport report;
    const auto items = items_of(plan);
    if (items.empty()) return report;
    const auto ranks = static_cast<std::size_t>(comm.size());
    std::vector<std::int64_t> send_counts(ranks, 0), recv_counts(ranks, 0);
    std::vector<at::Tensor> outgoing;
    std::vector<nn::ParameterBlock*> incoming;  // by sender, as they arrive
    std::vector<BlockKey> received_keys;
    std::vector<std::int64_t> sent_seals, send_items(ranks, 0), recv_items(ranks, 0);
    for (const auto& item : items) {
        if (item.from == comm.rank()) {
            const auto* block = trainer.find(item.key);
            if (!block)
                throw std::logic_error("asked to send " + block_name(item.key) + ", not held");
            for (const auto& part : block->state()) outgoing.push_back(part);
            send_counts[static_cast<std::size_t>(item.to)] += block->state_count();
            ++send_items[static_cast<std::size_t>(item.to)];
            sent_seals.push_back(static_cast<std::int64_t>(trainer.sealed(item.key)));
        }
        if (item.to == comm.rank()) {
            auto& block = trainer.make_or_get(item.key);
            incoming.push_back(&block);
            received_keys.push_back(item.key);
            recv_counts[static_cast<std::size_t>(item.from)] += block.state_count();
            ++recv_items[static_cast<std::size_t>(item.from)];
        }
    }
    const auto options = at::TensorOptions().dtype(trainer.config().model.dtype);
    const auto sent = outgoing.empty() ? at::empty({0}, options) : at::cat(outgoing);
    const auto total = std::accumulate(recv_counts.begin(), recv_counts.end(), std::int64_t{0});
    const auto received = at::empty({total}, options);
    comm.all_to_all_v(sent.data_ptr(), send_counts, received.data_ptr(), recv_counts,
                      nn::dtype_of(received));
    // A block keeps the seal that it had at its sender: damage there or on the way shows here.
    std::vector<std::int64_t> seals(received_keys.size());
    comm.all_to_all_v(sent_seals.data(), send_items, seals.data(), recv_items, cluster::Dtype::i64);
    std::int64_t offset = 0;
    for (auto* block : incoming) {
        for (auto part : block->state()) {
            part.copy_(received.narrow(0, offset, part.numel()));
            offset += part.numel();
        }
    }
    for (std::size_t i = 0; i < seals.size(); ++i)
        trainer.seal(received_keys[i], static_cast<std::uint64_t>(seals[i]));
    report.blocks_received = static_cast<long>(incoming.size());
    report.bytes_received = static_cast<std::int64_t>(received.nbytes());
    return report;
}

}  // namespace assay::lazarus
