#include "impls/nn/decoder.hpp"

#include <ATen/ATen.h>

#include <charconv>
#include <cmath>
#include <stdexcept>

#include "impls/nn/decoder_blocks.hpp"

namespace assay::nn {
namespace {

constexpr double initial_scale = 0.02;  // GPT-2's

ParameterSpec fresh(const NamedShape& parameter, int layers) {
    const std::string_view name = parameter.name;
    if (name.ends_with("bias")) return {parameter.name, parameter.shape, 0, 0};
    if (name.ends_with("norm")) return {parameter.name, parameter.shape, 0, 1};
    // What is added to the residual stream 2·layers times is scaled down by the depth, as in GPT-2.
    const bool residual = name == "attention_out" || name == "down";
    return {parameter.name, parameter.shape,
            residual ? initial_scale / std::sqrt(2.0 * layers) : initial_scale, 0};
}

}  // namespace

std::vector<std::unique_ptr<ParameterBlock>> decoder_blocks(const DecoderConfig& config,
                                                            std::optional<std::uint64_t> seed,
                                                            at::Device device) {
    std::vector<std::unique_ptr<ParameterBlock>> blocks;
    const auto add = [&](const std::string& name, const std::vector<NamedShape>& parameters) {
        std::vector<ParameterSpec> specs;
        for (const auto& parameter : parameters) {
            specs.push_back(fresh(parameter, config.layers));
            if (!seed) specs.back().stddev = 0;
        }
        blocks.push_back(
            std::make_unique<ParameterBlock>(name, specs, at::kFloat, seed.value_or(0), device));
    };
    add("shared", shared_parameters(config));
    for (int layer = 0; layer < config.layers; ++layer)
        add("layer" + std::to_string(layer), layer_parameters(config));
    return blocks;
}

Decoder::Decoder(const DecoderConfig& config, std::uint64_t seed, at::Device device)
    : config_(config),
      shared_(shared_parameters(config)),
      per_layer_(layer_parameters(config)),
      blocks_(decoder_blocks(config, seed, device)) {}

const at::Tensor* Decoder::find(int layer, std::string_view name) const {
    const auto& names = layer < 0 ? shared_ : per_layer_;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i].name == name) return &(*blocks_[static_cast<std::size_t>(layer + 1)])[i];
    return nullptr;
}

const at::Tensor& Decoder::parameter(std::string_view name) const {
    int layer = -1;
    auto rest = name;
    if (name.starts_with("layer")) {
        const auto* end = name.data() + name.size();
        const auto number = std::from_chars(name.data() + 5, end, layer);
        if (number.ec != std::errc{} || number.ptr == end || *number.ptr != '/' || layer < 0 ||
            layer >= config_.layers)
            throw std::out_of_range("no parameter " + std::string(name));
        rest = {number.ptr + 1, static_cast<std::size_t>(end - number.ptr - 1)};
    }
    const auto* found = find(layer, rest);
    if (!found) throw std::out_of_range("no parameter " + std::string(name));
    return *found;
}

FfnWeights Decoder::ffn(int layer) const {
    const auto get = [&](std::string_view name) {
        const auto* found = find(layer, name);
        return found ? *found : at::Tensor();
    };
    return {get("gate"),    get("up"),        get("down"),
            get("up_bias"), get("down_bias"), config_.activation};
}

}  // namespace assay::nn
