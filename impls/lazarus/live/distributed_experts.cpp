#include "impls/lazarus/live/distributed_experts.hpp"

#include <ATen/ATen.h>

#include <stdexcept>

#include "impls/nn/exchange.hpp"

namespace assay::lazarus {
namespace {

at::Tensor indices(const std::vector<std::int64_t>& values) {
    return at::tensor(values, at::kLong);
}

// inverse[order[i]] = i
std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& order) {
    std::vector<std::int64_t> result(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        result[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    return result;
}

// The rows of this rank in the order in which they are sent: by destination, then by expert, an
// expert's tokens in batch order.
std::vector<std::int64_t> send_order(const RankLayout& layout,
                                     const std::vector<std::int64_t>& expert) {
    std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(layout.experts));
    for (std::size_t row = 0; row < expert.size(); ++row)
        members[static_cast<std::size_t>(expert[row])].push_back(static_cast<std::int64_t>(row));
    std::vector<std::int64_t> order(expert.size());
    for (const auto& segment : layout.send) {
        const auto e = static_cast<std::size_t>(&segment - layout.send.data()) %
                       static_cast<std::size_t>(layout.experts);
        for (Tokens i = 0; i < segment.rows; ++i)
            order[static_cast<std::size_t>(segment.first_row + i)] =
                members[e][static_cast<std::size_t>(segment.first_ordinal + i)];
    }
    return order;
}

}  // namespace

DistributedExperts::DistributedExperts(cluster::Communicator& comm, int experts,
                                       const ModelPlacement& holders, const HeldExperts& held,
                                       std::function<void(int)> after_dispatch)
    : comm_(comm), experts_(experts), held_(held), after_dispatch_(std::move(after_dispatch)) {
    for (const auto& layer : holders) replicas_.push_back(replica_counts(layer, experts));
}

std::vector<Tokens> DistributedExperts::gather_counts(const std::vector<std::int64_t>& expert) {
    const auto experts = static_cast<std::size_t>(experts_);
    const auto ranks = static_cast<std::size_t>(comm_.size());
    std::vector<Tokens> mine(experts, 0), by_rank(experts * ranks), by_expert(experts * ranks);
    for (auto e : expert) ++mine[static_cast<std::size_t>(e)];
    comm_.all_gather(mine.data(), experts, by_rank.data(), cluster::Dtype::i64);
    Loads total(experts, 0);
    for (std::size_t r = 0; r < ranks; ++r) {
        for (std::size_t e = 0; e < experts; ++e) {
            by_expert[e * ranks + r] = by_rank[r * experts + e];
            total[e] += by_rank[r * experts + e];
        }
    }
    loads_.push_back(std::move(total));
    return by_expert;
}

at::Tensor DistributedExperts::compute_local(int layer, const at::Tensor& received,
                                             const RankLayout& layout) const {
    // Gather the received rows by expert, run each expert once, put the results back in place.
    // Every held expert takes part, even with no rows: its place in the graph keeps the backward
    // exchanges of all ranks in step.
    std::vector<std::int64_t> order;
    std::vector<at::Tensor> outputs;
    for (int e = 0; e < layout.experts; ++e) {
        const auto found = held_.find({layer, e});
        std::vector<std::int64_t> rows;
        for (int source = 0; source < layout.ranks; ++source) {
            const auto& segment = layout.from(source, e);
            for (Tokens i = 0; i < segment.rows; ++i) rows.push_back(segment.first_row + i);
        }
        if (found == held_.end()) {
            if (!rows.empty()) throw std::logic_error("tokens arrived for an expert not held here");
            continue;
        }
        outputs.push_back(
            nn::expert_forward(*found->second, received.index_select(0, indices(rows))));
        order.insert(order.end(), rows.begin(), rows.end());
    }
    return at::cat(outputs).index_select(0, indices(inverse(order)));
}

at::Tensor DistributedExperts::run(int layer, const at::Tensor& rows,
                                   const std::vector<std::int64_t>& expert) {
    plan_dispatch(gather_counts(expert), replicas_[static_cast<std::size_t>(layer)], experts_,
                  comm_.size(), plan_);
    rank_layout(plan_, comm_.rank(), layout_);
    const auto order = send_order(layout_, expert);
    const auto sent = rows.index_select(0, indices(order));
    const auto received =
        nn::exchange_rows(sent, layout_.send_counts, layout_.receive_counts, comm_);
    if (after_dispatch_) after_dispatch_(layer);
    const auto computed = compute_local(layer, received, layout_);
    const auto returned =
        nn::exchange_rows(computed, layout_.receive_counts, layout_.send_counts, comm_);
    return returned.index_select(0, indices(inverse(order)));
}

}  // namespace assay::lazarus
