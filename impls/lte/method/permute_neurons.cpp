// Neurons in the order of their experts.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include "impls/lte/method/stages.hpp"
#include "suite/experiment/error.hpp"

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

}  // namespace assay::lte
