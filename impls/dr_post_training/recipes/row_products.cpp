#include "impls/dr_post_training/recipes/row_products.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "impls/dr_post_training/method/choosing.hpp"
#include "impls/nn/row_gradients.hpp"

namespace assay::dr_post_training {

std::vector<Layer> plan_layers(const nn::DecoderConfig& config) {
    std::vector<Layer> layers;
    for (int layer = 0; layer < config.layers; ++layer)
        for (const auto& parameter : layer_parameters(config)) {
            if (parameter.shape.size() != 2) continue;
            const nn::Place place{layer, parameter.name};
            const auto block = group_of(Partition::block, place);
            const auto sublayer = group_of(Partition::sublayer, place);
            layers.push_back(
                {group_of(Partition::layer, place), block, sublayer.substr(block.size() + 1), {}});
        }
    return layers;
}

std::vector<at::Tensor> gradients_by_map(const nn::Decoder& decoder,
                                         const std::vector<nn::ScoredRow>& rows) {
    std::vector<at::Tensor> maps;
    for (const auto& map : nn::linear_maps(decoder.config()))
        maps.push_back(
            at::empty({static_cast<std::int64_t>(rows.size()), map.shape[0] * map.shape[1]},
                      at::TensorOptions().dtype(at::kFloat)));
    nn::Maps plain;
    for (std::size_t b = 0; b < rows.size(); ++b)
        nn::row_gradients(
            decoder, plain, rows[b], at::kFloat, [&](std::size_t map, const at::Tensor& gradient) {
                maps[map].select(0, static_cast<std::int64_t>(b)).copy_(gradient.view(-1));
            });
    for (const auto& block : decoder.blocks()) block->zero_grad();
    return maps;
}

Matrix products_of(const at::Tensor& a, const at::Tensor& b) {
    const auto products = at::mm(a.to(at::kDouble), b.to(at::kDouble).t()).contiguous();
    Matrix matrix(static_cast<std::size_t>(a.size(0)), static_cast<std::size_t>(b.size(0)));
    std::copy_n(products.const_data_ptr<double>(), matrix.values.size(), matrix.values.begin());
    return matrix;
}

PlanInput plan_input(const nn::Decoder& decoder, const std::vector<nn::ScoredRow>& general,
                     const std::vector<nn::ScoredRow>& target, LossMean mean) {
    PlanInput input;
    if (mean == LossMean::token)
        for (const auto& row : general)
            input.tokens.push_back(static_cast<double>(row.scored_tokens()));
    input.layers = plan_layers(decoder.config());
    const auto of_general = gradients_by_map(decoder, general);
    const auto of_target = gradients_by_map(decoder, target);
    for (std::size_t map = 0; map < input.layers.size(); ++map)
        input.layers[map].statistics = {.gram = products_of(of_general[map], of_general[map]),
                                        .scores = products_of(of_general[map], of_target[map]),
                                        .target_gram = products_of(of_target[map], of_target[map])};
    return input;
}

}  // namespace assay::dr_post_training
