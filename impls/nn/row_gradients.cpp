#include "impls/nn/row_gradients.hpp"

#include <ATen/ATen.h>

#include <span>

#include "impls/nn/training/row_batch.hpp"

namespace assay::nn {

std::vector<NamedShape> linear_maps(const DecoderConfig& config) {
    std::vector<NamedShape> maps;
    for (int layer = 0; layer < config.layers; ++layer)
        for (const NamedShape& parameter : layer_parameters(config))
            if (parameter.shape.size() == 2)
                maps.push_back(
                    {"layer" + std::to_string(layer) + "/" + parameter.name, parameter.shape});
    return maps;
}

void row_gradients(const Decoder& decoder, Maps& maps, const ScoredRow& row, at::ScalarType compute,
                   const std::function<void(std::size_t map, const at::Tensor& gradient)>& take) {
    for (auto& block : decoder.blocks()) block->zero_grad();
    const RowBatch batch = batch_of(std::span(&row, 1));
    const auto device = decoder.blocks().front()->values().device();
    const auto losses =
        decoder.token_losses(batch.tokens.to(device), maps, batch.targets.to(device), compute);
    (losses.sum() / static_cast<double>(batch.scored_tokens.front())).backward();
    const auto names = linear_maps(decoder.config());
    for (std::size_t i = 0; i < names.size(); ++i)
        take(i, decoder.parameter(names[i].name).grad().to(at::kCPU, at::kFloat).contiguous());
}

}  // namespace assay::nn
