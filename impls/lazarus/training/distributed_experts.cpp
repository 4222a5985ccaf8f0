#include "impls/lazarus/training/distributed_experts.hpp"

#include <ATen/ATen.h>

#include <limits>
#include <stdexcept>
#include <utility>

#include "impls/nn/all_to_all.hpp"

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

}  // namespace

DistributedExperts::DistributedExperts(cluster::Communicator& comm, int experts,
                                       const DispatchRule& rule, const ModelPlacement& holders,
                                       const HeldExperts& held, const StepHooks& hooks)
    : comm_(comm), experts_(experts), held_(held), hooks_(hooks) {
    for (const auto& layer : holders) dispatchers_.push_back(make_dispatcher(rule, layer, experts));
}

void DistributedExperts::done(StepHooks::Phase phase, int layer) const {
    if (hooks_.done) hooks_.done(phase, layer);
}

std::vector<Tokens> DistributedExperts::gather_counts(const std::vector<std::int64_t>& expert) {
    const auto experts = static_cast<std::size_t>(experts_);
    const auto ranks = static_cast<std::size_t>(comm_.size());
    std::vector<Tokens> mine(experts, 0), by_expert(experts * ranks);
    for (auto e : expert) ++mine[static_cast<std::size_t>(e)];
    const auto by_rank = one_hop_gather(comm_, mine, cluster::Dtype::i64);
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

at::Tensor DistributedExperts::compute_local(int layer, const at::Tensor& received) const {
    // Gather the received rows by expert, run each expert once, put the results back in place.
    // Padding is computed like a token; its result is dropped where it was sent from, so its
    // gradient is zero. Every held expert takes part, even with no rows: its place in the graph
    // keeps the backward exchanges of all ranks in step.
    std::vector<std::int64_t> order, sizes;
    std::vector<const nn::ParameterBlock*> blocks;
    for (int e = 0; e < experts_; ++e) {
        const auto before = order.size();
        for (int source = 0; source < layout_.ranks; ++source) {
            const auto& segment = layout_.from(source, e);
            for (Tokens i = 0; i < segment.room; ++i) order.push_back(segment.first_row + i);
        }
        const auto found = held_.find({layer, e});
        if (found != held_.end()) {
            blocks.push_back(found->second);
            sizes.push_back(static_cast<std::int64_t>(order.size() - before));
        } else if (order.size() != before) {
            throw std::logic_error("tokens arrived for an expert not held here");
        }
    }
    const auto by_expert = received.index_select(0, indices(order)).split_with_sizes(sizes);
    std::vector<at::Tensor> outputs;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        outputs.push_back(nn::expert_forward(*blocks[i], by_expert[i]));
    return at::cat(outputs).index_select(0, indices(inverse(order)));
}

at::Tensor DistributedExperts::run(int layer, const at::Tensor& rows,
                                   const std::vector<std::int64_t>& expert) {
    using Phase = StepHooks::Phase;
    done(Phase::attention, layer);
    const auto tokens = gather_counts(expert);
    if (hooks_.counted) hooks_.counted(layer, tokens);
    dispatchers_[static_cast<std::size_t>(layer)]->layout(tokens, comm_.rank(), layout_);
    auto healthy_or_not = rows;
    if (std::exchange(poisoned_, false)) {
        auto noise = at::zeros_like(rows.detach());
        noise[0][0] = std::numeric_limits<double>::quiet_NaN();
        healthy_or_not = rows + noise;
    }
    const auto places = indices(send_places(layout_, expert));
    const auto sent = at::zeros({layout_.send_total, rows.size(1)}, rows.options())
                          .index_copy(0, places, healthy_or_not);
    const auto received =
        nn::exchange_rows(sent, layout_.send_counts, layout_.receive_counts, comm_);
    done(Phase::dispatched, layer);
    const auto computed = compute_local(layer, received);
    done(Phase::computed, layer);
    const auto returned =
        nn::exchange_rows(computed, layout_.receive_counts, layout_.send_counts, comm_);
    const auto combined = returned.index_select(0, places);
    done(Phase::combined, layer);
    return combined;
}

}  // namespace assay::lazarus
