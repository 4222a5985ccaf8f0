// Networks that leave out neurons, out of a model file.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "impls/decode/networks/feed_forward_networks.hpp"
#include "impls/decode/networks/sparse_networks.hpp"
#include "impls/decode/networks/threshold_networks.hpp"
#include "impls/decode/weights/weights.hpp"
#include "kernels/cpu/element_types.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {

PlainRows plain_rows(const WeightSource& source, const std::string& name, int rows, int columns) {
    PlainRows result{source.type_of(name), rows, columns, {}};
    if (!kernels::is_quantised(result.type)) {
        result.bytes.resize(static_cast<std::size_t>(rows) *
                            kernels::row_bytes(result.type, columns));
        source.rows(name, result.type, result.bytes);
        return result;
    }
    result.type = ASSAY_F32;
    std::vector<float> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    source.floats(name, values);
    result.bytes.resize(values.size() * sizeof(float));
    std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
    return result;
}

PlainRows transposed(const PlainRows& from) {
    PlainRows result{from.type, from.columns, from.rows, std::vector<std::byte>(from.bytes.size())};
    const std::size_t element = kernels::row_bytes(from.type, 1);
    const auto rows = static_cast<std::size_t>(from.rows);
    const auto columns = static_cast<std::size_t>(from.columns);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
            std::memcpy(&result.bytes[(c * rows + r) * element],
                        &from.bytes[(r * columns + c) * element], element);
    return result;
}

std::vector<SparseLayer> expert_layers(const nn::TensorFile& file, const nn::DecoderConfig& config,
                                       int expert_size, WeightType weights) {
    if (config.hidden % expert_size != 0)
        throw UserError(
            fmt::format("{} neurons are no multiple of {}", config.hidden, expert_size));
    const auto source = file_source(file, config, weights);
    std::vector<SparseLayer> layers;
    for (int i = 0; i < config.layers; ++i) {
        const auto rows = [&](const char* name, int outputs, int inputs) {
            return plain_rows(*source, fmt::format("layer{}/{}", i, name), outputs, inputs);
        };
        const auto floats = [&](const char* name, int elements) {
            std::vector<float> values(static_cast<std::size_t>(elements));
            source->floats(fmt::format("layer{}/{}", i, name), values);
            return values;
        };
        SparseLayer layer;
        layer.expert_size = expert_size;
        layer.experts = config.hidden / expert_size;
        PlainRows up = rows("up", config.hidden, config.width);
        PlainRows down = transposed(rows("down", config.width, config.hidden));
        layer.type = up.type;
        layer.up = std::move(up.bytes);
        layer.down = std::move(down.bytes);
        bool alike = down.type == layer.type;
        if (config.activation == nn::Activation::swiglu) {
            PlainRows gate = rows("gate", config.hidden, config.width);
            alike = alike && gate.type == layer.type;
            layer.gate = std::move(gate.bytes);
        }
        if (!alike) throw UserError(fmt::format("layer {}: gate, up and down differ in type", i));
        if (config.family == nn::Family::gpt2) {
            layer.up_bias = floats("up_bias", config.hidden);
            layer.down_bias = floats("down_bias", config.width);
        }
        layers.push_back(std::move(layer));
    }
    return layers;
}

namespace {

std::vector<std::byte> as_bytes(const std::vector<float>& values) {
    return nn::stored_as(nn::TensorType::f32, values);
}

std::vector<SparseLayer> routed_layers(const nn::TensorFile& file, const nn::DecoderConfig& config,
                                       const nn::RoutedExperts& routed, WeightType weights) {
    auto layers = expert_layers(file, config, routed.expert_size, weights);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        layers[i].router_type = ASSAY_F32;
        layers[i].router = as_bytes(routed.routers[i].weights);
        layers[i].router_bias = routed.routers[i].bias;
        layers[i].logit_threshold = routed.logit_threshold;
    }
    return layers;
}

}  // namespace

std::unique_ptr<FeedForwardNetworks> networks_of_file(const nn::TensorFile& file,
                                                      const nn::DecoderConfig& config,
                                                      const nn::FfnSparsity& sparsity,
                                                      WeightType weights) {
    if (const auto* routed = std::get_if<nn::RoutedExperts>(&sparsity))
        return std::make_unique<SparseNetworks>(
            config, routed_layers(file, config, *routed, weights), std::nullopt);
    const auto source = file_source(file, config, weights);
    if (const auto* gate = std::get_if<nn::GateThresholds>(&sparsity))
        return std::make_unique<GatedNetworks>(config, *source, *gate);
    return std::make_unique<ThinnedNetworks>(config, *source,
                                             std::get<nn::InputThresholds>(sparsity));
}

}  // namespace assay::decode
