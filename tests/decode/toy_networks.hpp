// Toy models, some with feed-forward networks that leave out neurons, and comparison of logits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/networks/sparse_networks.hpp"
#include "tests/decode/lone_sequence.hpp"
#include "tests/decode/reference_decoder.hpp"
#include "tests/nn/files/toy_gguf.hpp"

namespace assay::decode {

inline nn::TensorFile toy_file(const nn::ToyModel& model,
                               nn::TensorType matrices = nn::TensorType::f32) {
    return nn::TensorFile::in_memory(nn::gguf_of(model, matrices).bytes(), "toy");
}

inline std::vector<int> random_ids(int count, int vocabulary, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<int> ids;
    for (int i = 0; i < count; ++i)
        ids.push_back(static_cast<int>(random() % static_cast<std::uint64_t>(vocabulary)));
    return ids;
}

inline std::vector<float> copy_of(std::span<const float> logits) {
    return {logits.begin(), logits.end()};
}

/// `tolerance`: of the largest logit.
inline void expect_near(std::span<const float> logits, const Row& expected, double tolerance) {
    ASSERT_EQ(logits.size(), expected.size());
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    ASSERT_GT(largest, 0.01);
    for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(logits[i], expected[i], tolerance * largest) << "token " << i;
}

// Toy models whose feed-forward networks are cut into experts, with random routers.

inline constexpr int toy_expert_size = 32, toy_experts = 5;

/// Of `config`'s shape, its hidden layer a whole number of experts wide.
inline nn::ToyModel toy_sparse_model(nn::DecoderConfig config, std::uint64_t seed) {
    config.hidden = toy_expert_size * toy_experts;
    config.context = 40;
    return nn::toy_model(config, seed);
}

/// [experts, width]
inline std::vector<float> toy_router(int layer, int width) {
    return nn::grid_weights(static_cast<std::size_t>(toy_experts * width),
                            static_cast<std::uint64_t>(100 + layer));
}

/// Experts in order of the neurons; fp32.
inline std::vector<SparseLayer> toy_sparse_layers(const nn::ToyModel& model, float threshold) {
    const auto as_bytes = [](const std::vector<float>& values) {
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    };
    std::vector<SparseLayer> layers;
    for (int i = 0; i < model.config.layers; ++i) {
        const std::string prefix = "layer" + std::to_string(i) + "/";
        SparseLayer& layer = layers.emplace_back();
        layer.type = layer.router_type = ASSAY_F32;
        layer.experts = toy_experts;
        layer.logit_threshold = threshold;
        layer.router = as_bytes(toy_router(i, model.config.width));
        layer.up = as_bytes(model.parameters.at(prefix + "up"));
        layer.down = as_bytes(nn::transposed(model.parameters.at(prefix + "down"),
                                             static_cast<std::size_t>(model.config.hidden)));
        if (model.config.family == nn::Family::llama) {
            layer.gate = as_bytes(model.parameters.at(prefix + "gate"));
        } else {
            layer.up_bias = model.parameters.at(prefix + "up_bias");
            layer.down_bias = model.parameters.at(prefix + "down_bias");
        }
    }
    return layers;
}

/// A file's model with these feed-forward networks in place of its own.
inline std::shared_ptr<CpuModel> with_networks(const nn::TensorFile& file,
                                               std::vector<SparseLayer> layers,
                                               std::optional<RandomExperts> random = {},
                                               const ModelOptions& options = {}) {
    std::shared_ptr<CpuModel> model = load_model(file, options);
    model->replace_networks(
        std::make_unique<SparseNetworks>(model->config, std::move(layers), random), "toy networks");
    return model;
}

}  // namespace assay::decode
