#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/model/gradients.hpp"
#include "impls/nn/files/safetensors_writer.hpp"
#include "impls/nn/row_gradients.hpp"

namespace assay::model {
namespace {

void write_gradients(const GradientRequest& request) {
    if (request.threads > 0) at::set_num_threads(request.threads);
    nn::Decoder decoder = nn::Decoder::load(request.file);
    const auto maps = nn::linear_maps(decoder.config());
    const auto per_layer = maps.size() / static_cast<std::size_t>(decoder.config().layers);
    // Of each map: its number among those that are asked for, if it is.
    std::vector<std::optional<std::size_t>> wanted(maps.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < maps.size(); ++i)
        if (const int layer = static_cast<int>(i / per_layer);
            request.layers.empty() ||
            std::count(request.layers.begin(), request.layers.end(), layer))
            wanted[i] = count++;
    const auto n = static_cast<std::int64_t>(request.general.size());
    const auto m = static_cast<std::int64_t>(request.target.size());
    std::vector<nn::FloatTensor> tensors;
    for (std::size_t i = 0; i < maps.size(); ++i) {
        if (!wanted[i]) continue;
        const nn::NamedShape& map = maps[i];
        const auto elements = map.shape[0] * map.shape[1];
        tensors.push_back({map.name + "/gradients", {n, elements}});
        tensors.push_back({map.name + "/target", {m, elements}});
    }
    nlohmann::json tokens = nlohmann::json::array();
    for (const nn::ScoredRow& row : request.general) tokens.push_back(row.scored_tokens());
    // Names of files need not be UTF-8.
    const std::string sources = nlohmann::json(request.sources)
                                    .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    nn::SafetensorsWriter writer(request.output, tensors,
                                 {{"tokens", tokens.dump()}, {"sources", sources}});

    nn::Maps plain;
    std::int64_t done = 0;
    for (const bool target : {false, true}) {
        std::int64_t number = 0;
        for (const nn::ScoredRow& row : target ? request.target : request.general) {
            nn::row_gradients(decoder, plain, row, request.bf16 ? at::kBFloat16 : at::kFloat,
                              [&](std::size_t map, const at::Tensor& gradient) {
                                  if (!wanted[map]) return;
                                  writer.write(2 * *wanted[map] + (target ? 1 : 0),
                                               number * gradient.numel(),
                                               {gradient.const_data_ptr<float>(),
                                                static_cast<std::size_t>(gradient.numel())});
                              });
            ++number;
            if (request.progress) request.progress(++done);
        }
    }
    writer.publish();
}

const tensors::Provided provided_gradients(write_row_gradients, write_gradients);

}  // namespace
}  // namespace assay::model
