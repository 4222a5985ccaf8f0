// A small model with weights of the grid, and the arrangements in which files keep its matrices,
// spelled out element by element from the converters' definitions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"
#include "tests/nn/files/grid_weights.hpp"

namespace assay::nn {

struct ToyModel {
    DecoderConfig config;
    /// By our names ("layer0/query"), in our layout.
    std::map<std::string, std::vector<float>> parameters;
    std::map<std::string, std::vector<std::int64_t>> shapes;
};

/// Widths that are multiples of 32, so that every tensor type can store it.
inline DecoderConfig toy_llama_config() {
    DecoderConfig config;
    config.layers = 2;
    config.width = 64;
    config.hidden = 96;
    config.heads = 4;
    config.kv_heads = 2;
    config.head_width = 16;
    config.vocabulary = 40;
    config.context = 24;
    config.rope_base = 100000;
    config.norm_epsilon = 1e-5;
    config.name = "toy";
    return config;
}

inline DecoderConfig toy_gpt2_config() {
    DecoderConfig config = toy_llama_config();
    config.family = Family::gpt2;
    config.activation = Activation::gelu;
    config.kv_heads = config.heads;
    config.rope_base = DecoderConfig{}.rope_base;
    return config;
}

/// With norms of queries and keys, and heads wider than their share of the width.
inline DecoderConfig toy_qwen3_config() {
    DecoderConfig config = toy_llama_config();
    config.query_key_norms = true;
    config.head_width = 32;
    config.norm_epsilon = 1e-6;
    return config;
}

/// With biases of query, key and value.
inline DecoderConfig toy_qwen2_config() {
    DecoderConfig config = toy_llama_config();
    config.query_key_value_biases = true;
    return config;
}

inline ToyModel toy_model(const DecoderConfig& config, std::uint64_t seed = 1) {
    ToyModel model{config, {}, {}};
    const auto add = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
        std::size_t count = 1;
        for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
        model.parameters[name] = grid_weights(count, seed * 1000003 + model.parameters.size());
        model.shapes[name] = shape;
    };
    for (const NamedShape& each : shared_parameters(config)) add(each.name, each.shape);
    for (int layer = 0; layer < config.layers; ++layer)
        for (const NamedShape& each : layer_parameters(config))
            add("layer" + std::to_string(layer) + "/" + each.name, each.shape);
    return model;
}

/// Rows of llama's query and key as GGUF keeps them: of each head the pairs (0, hw/2), (1, hw/2 +
/// 1), … side by side.
inline std::vector<float> interleaved(const std::vector<float>& rows, int head_width,
                                      std::size_t inputs) {
    const std::size_t width = static_cast<std::size_t>(head_width);
    std::vector<float> out;
    for (std::size_t head = 0; head * width * inputs < rows.size(); ++head)
        for (std::size_t pair = 0; pair < width / 2; ++pair)
            for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
                const auto row =
                    rows.begin() +
                    static_cast<std::ptrdiff_t>((head * width + half * width / 2 + pair) * inputs);
                out.insert(out.end(), row, row + static_cast<std::ptrdiff_t>(inputs));
            }
    return out;
}

inline std::vector<float> transposed(const std::vector<float>& rows, std::size_t inputs) {
    const std::size_t outputs = rows.size() / inputs;
    std::vector<float> out(rows.size());
    for (std::size_t o = 0; o < outputs; ++o)
        for (std::size_t i = 0; i < inputs; ++i) out[i * outputs + o] = rows[o * inputs + i];
    return out;
}

/// Query, key and value one below the other: rows of matrices, or elements of biases.
inline std::vector<float> fused_qkv(const ToyModel& model, int layer, const std::string& suffix) {
    std::vector<float> all;
    for (const char* const part : {"query", "key", "value"}) {
        const auto& rows =
            model.parameters.at("layer" + std::to_string(layer) + "/" + part + suffix);
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

/// What a file calls something, and what we call it.
using NamePairs = std::vector<std::pair<const char*, const char*>>;

inline void write_bytes(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

}  // namespace assay::nn
