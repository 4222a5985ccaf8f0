// Engines over toy models, and comparison of logits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "impls/decode/engine.hpp"
#include "tests/decode/reference_decoder.hpp"
#include "tests/nn_files/toy_gguf.hpp"

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

}  // namespace assay::decode
