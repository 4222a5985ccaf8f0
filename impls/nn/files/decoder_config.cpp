#include "impls/nn/files/decoder_config.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "impls/nn/files/config_reader.hpp"
#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/files/untrusted_file.hpp"

namespace assay::nn {

std::vector<NamedShape> shared_parameters(const DecoderConfig& config) {
    const std::int64_t d = config.width;
    std::vector<NamedShape> list{{"token_embedding", {config.vocabulary, d}}};
    if (config.family == Family::gpt2) list.push_back({"position_embedding", {config.context, d}});
    list.push_back({"final_norm", {d}});
    if (config.family == Family::gpt2) list.push_back({"final_norm_bias", {d}});
    if (!config.tied_embeddings) list.push_back({"output", {config.vocabulary, d}});
    return list;
}

std::vector<NamedShape> layer_parameters(const DecoderConfig& config) {
    const std::int64_t d = config.width, f = config.hidden;
    const std::int64_t queries = std::int64_t{config.heads} * config.head_width;
    const std::int64_t keys = std::int64_t{config.kv_heads} * config.head_width;
    std::vector<NamedShape> list;
    const bool biases = config.family == Family::gpt2;
    // A bias has one element per output, as many as its matrix has rows.
    const auto add = [&](const char* name, std::vector<std::int64_t> shape, bool bias) {
        const std::int64_t outputs = shape.front();
        list.push_back({name, std::move(shape)});
        if (bias) list.push_back({std::string(name) + "_bias", {outputs}});
    };
    add("attention_norm", {d}, biases);
    add("query", {queries, d}, biases || config.query_key_value_biases);
    add("key", {keys, d}, biases || config.query_key_value_biases);
    add("value", {keys, d}, biases || config.query_key_value_biases);
    if (config.query_key_norms)
        for (const char* const name : {"query_norm", "key_norm"})
            add(name, {config.head_width}, false);
    add("attention_out", {d, queries}, biases);
    add("ffn_norm", {d}, biases);
    if (config.activation == Activation::swiglu) add("gate", {f, d}, false);
    add("up", {f, d}, biases);
    add("down", {d, f}, biases);
    return list;
}

std::int64_t DecoderConfig::parameters() const {
    const auto sum = [](const std::vector<NamedShape>& list) {
        std::int64_t total = 0;
        for (const NamedShape& parameter : list) {
            std::int64_t elements = 1;
            for (const std::int64_t extent : parameter.shape) elements *= extent;
            total += elements;
        }
        return total;
    };
    return sum(shared_parameters(*this)) + layers * sum(layer_parameters(*this));
}

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

/// Throws UserError unless the file holds every parameter of the configuration in its shape, no
/// further layer, and nothing the configuration has no place for (biases in llama).
void check_against_tensors(const TensorFile& file, const DecoderConfig& config) {
    const std::string path = file.path().string();
    check_heads(path, config);
    std::set<std::string> checked;
    std::vector<std::string> biases;  // that there would be
    const auto check = [&](const std::string& name) {
        const ParameterSource source = parameter_source(file, config, name);
        file.require(source.tensor, source.stored_shape);
        checked.insert(source.tensor);
        if (config.family != Family::llama || !source.tensor.ends_with(".weight")) return;
        std::string& bias = biases.emplace_back(source.tensor);
        bias.replace(bias.size() - std::string_view("weight").size(), std::string::npos, "bias");
    };
    for (const NamedShape& parameter : shared_parameters(config)) check(parameter.name);
    const std::vector<NamedShape> of_layer = layer_parameters(config);
    for (int layer = 0; layer < config.layers; ++layer)
        for (const NamedShape& parameter : of_layer)
            check(fmt::format("layer{}/{}", layer, parameter.name));
    for (const std::string& bias : biases)
        if (!checked.contains(bias) && file.find(bias))
            malformed(path, fmt::format("tensor {}: biases are not supported in llama models, but "
                                        "those of query, key and value in qwen2",
                                        shown(bias)));

    DecoderConfig longer = config;
    ++longer.layers;
    const auto beyond = parameter_source(file, longer, fmt::format("layer{}/up", config.layers));
    if (file.find(beyond.tensor))
        malformed(path, fmt::format("it holds {}, but its configuration says {} layers",
                                    shown(beyond.tensor), config.layers));
}

}  // namespace

DecoderConfig read_decoder_config(const TensorFile& file) {
    const DecoderConfig config =
        file.format() == FileFormat::gguf ? config_of_gguf(file) : config_of_hugging_face(file);
    check_against_tensors(file, config);
    return config;
}

}  // namespace assay::nn
