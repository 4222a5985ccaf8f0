#include "impls/lte/sparse_layers.hpp"

#include <fmt/format.h>

#include <cstring>
#include <random>
#include <string>

#include "impls/lte/expert_size.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lte {
namespace {

std::vector<std::byte> in_bfloat16(const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * 2);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t half = nn::to_bfloat16(values[i]);
        std::memcpy(&bytes[2 * i], &half, 2);
    }
    return bytes;
}

std::vector<float> transposed(const std::vector<float>& values, std::size_t rows,
                              std::size_t columns) {
    std::vector<float> result(values.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = values[r * columns + c];
    return result;
}

}  // namespace

std::vector<decode::SparseLayer> sparse_layers(const nn::TensorFile& file,
                                               const nn::DecoderConfig& config,
                                               std::uint64_t seed) {
    if (config.hidden % expert_size != 0)
        throw UserError(
            fmt::format("{} neurons are no multiple of {}", config.hidden, expert_size));
    const auto width = static_cast<std::size_t>(config.width);
    const auto hidden = static_cast<std::size_t>(config.hidden);
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal(0, 0.02F);
    std::vector<decode::SparseLayer> layers;
    for (int i = 0; i < config.layers; ++i) {
        const auto read = [&](const char* name, std::size_t elements) {
            std::vector<float> values(elements);
            nn::read_parameter(file, config, fmt::format("layer{}/{}", i, name), values);
            return values;
        };
        decode::SparseLayer layer;
        layer.expert_size = expert_size;
        layer.experts = config.hidden / expert_size;
        if (config.activation == nn::Activation::swiglu)
            layer.gate = in_bfloat16(read("gate", hidden * width));
        layer.up = in_bfloat16(read("up", hidden * width));
        layer.down = in_bfloat16(transposed(read("down", width * hidden), width, hidden));
        if (config.family == nn::Family::gpt2) {
            layer.up_bias = read("up_bias", hidden);
            layer.down_bias = read("down_bias", width);
        }
        std::vector<float> router(static_cast<std::size_t>(layer.experts) * width);
        for (float& weight : router) weight = normal(random);
        layer.router = in_bfloat16(router);
        layers.push_back(std::move(layer));
    }
    return layers;
}

}  // namespace assay::lte
