#include "impls/lte/method/grouping.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "impls/nn/hashes.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

// A parameter's value and moments are at the same place of three flat buffers.
void permute(nn::ParameterBlock& block, const at::Tensor& leaf, std::int64_t dimension,
             const at::Tensor& order) {
    const auto offset = leaf.storage_offset() - block.values().storage_offset();
    for (const auto& buffer : block.state()) {
        const auto part = buffer.narrow(0, offset, leaf.numel()).view(leaf.sizes());
        part.copy_(part.index_select(dimension, order));
    }
}

}  // namespace

Grouping random_grouping(int neurons, int expert_size, std::uint64_t seed) {
    check_expert_size(neurons, expert_size);
    return {expert_size, seeded_order(neurons, seed)};
}

double within_distance(const at::Tensor& features, const Grouping& grouping) {
    const auto rows = features.detach()
                          .to(at::kCPU, at::kDouble)
                          .index_select(0, at::tensor(grouping.order, at::kLong))
                          .view({grouping.experts(), grouping.expert_size, -1});
    return (rows - rows.mean(1, true)).square().sum().item<double>();
}

void permute_neurons(nn::Decoder& decoder, int layer, const Grouping& grouping) {
    const auto weights = decoder.ffn(layer);
    if (weights.up.size(0) != static_cast<std::int64_t>(grouping.order.size()))
        throw UserError(fmt::format("a grouping of {} neurons does not fit layer {} with {}",
                                    grouping.order.size(), layer, weights.up.size(0)));
    at::NoGradGuard no_grad;
    auto& block = *decoder.blocks()[static_cast<std::size_t>(layer) + 1];
    const auto order = at::tensor(grouping.order, at::kLong).to(weights.up.device());
    for (const auto& rows : {weights.gate, weights.up, weights.up_bias})
        if (rows.defined()) permute(block, rows, 0, order);
    permute(block, weights.down, 1, order);
}

void check_expert_size(std::int64_t neurons, int expert_size) {
    if (expert_size > 0 && neurons > 0 && neurons % expert_size == 0) return;
    throw UserError(
        fmt::format("{} neurons cannot be split into experts of {} neurons each; choose "
                    "an expert size that divides {}",
                    neurons, expert_size, neurons));
}

std::vector<std::int64_t> seeded_order(std::int64_t n, std::uint64_t seed) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::uint64_t draw = nn::counter_hash(seed);
    for (std::size_t i = order.size(); i > 1; --i) {
        draw = nn::counter_hash(draw);
        std::swap(order[i - 1], order[draw % i]);
    }
    return order;
}

Grouping grouping_of(const Membership& group, int expert_size) {
    std::vector<std::vector<std::int64_t>> experts(group.size() /
                                                   static_cast<std::size_t>(expert_size));
    for (std::size_t i = 0; i < group.size(); ++i)
        experts[static_cast<std::size_t>(group[i])].push_back(static_cast<std::int64_t>(i));
    std::sort(experts.begin(), experts.end());
    Grouping grouping{expert_size, {}};
    for (const auto& expert : experts)
        grouping.order.insert(grouping.order.end(), expert.begin(), expert.end());
    return grouping;
}

}  // namespace assay::lte
