#include <fmt/format.h>

#include "impls/nn/files/decoder_config_parts.hpp"
#include "impls/nn/files/malformed.hpp"
#include "impls/nn/files/parameter_source.hpp"

namespace assay::nn {
namespace {

void check_heads(const std::string& file, const DecoderConfig& config) {
    if (config.heads % config.kv_heads != 0)
        malformed(file, fmt::format("{} key and value heads do not divide {} query heads",
                                    config.kv_heads, config.heads));
    if (config.family == Family::llama && config.head_width % 2 != 0)
        malformed(file, fmt::format("heads of width {}: rotary positions need an even one",
                                    config.head_width));
    if (std::int64_t{config.heads} * config.head_width > 1 << 24)
        malformed(file, "its attention is wider than any model's");
}

}  // namespace

void check_against_tensors(const TensorFile& file, const DecoderConfig& config) {
    const std::string path = file.path().string();
    check_heads(path, config);
    const auto check = [&](const std::string& name) {
        const ParameterSource source = parameter_source(file, config, name);
        file.require(source.tensor, source.stored_shape);
        if (config.family != Family::llama || !source.tensor.ends_with(".weight")) return;
        std::string bias = source.tensor;
        bias.replace(bias.size() - std::string_view("weight").size(), std::string::npos, "bias");
        if (file.find(bias))
            malformed(path, fmt::format("tensor {}: biases are not supported in llama models",
                                        shown(bias)));
    };
    for (const NamedShape& parameter : shared_parameters(config)) check(parameter.name);
    const std::vector<NamedShape> of_layer = layer_parameters(config);
    for (int layer = 0; layer < config.layers; ++layer)
        for (const NamedShape& parameter : of_layer)
            check(fmt::format("layer{}/{}", layer, parameter.name));

    DecoderConfig longer = config;
    ++longer.layers;
    const auto beyond = parameter_source(file, longer, fmt::format("layer{}/up", config.layers));
    if (file.find(beyond.tensor))
        malformed(path, fmt::format("it holds {}, but its configuration says {} layers",
                                    shown(beyond.tensor), config.layers));
}

DecoderConfig read_decoder_config(const TensorFile& file) {
    const DecoderConfig config =
        file.format() == FileFormat::gguf ? config_of_gguf(file) : config_of_hugging_face(file);
    check_against_tensors(file, config);
    return config;
}

}  // namespace assay::nn
