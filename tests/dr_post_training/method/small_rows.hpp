// Rows and decoders small enough to compare gradients one by one.
#pragma once

#include <ATen/Parallel.h>

#include <cstdint>
#include <string>
#include <vector>

#include "impls/dr_post_training/method/training_step.hpp"
#include "impls/nn/hashes.hpp"
#include "tests/nn/small_decoders.hpp"

namespace assay::dr_post_training {

/// Products so small take longer on several threads.
inline const bool one_thread = (at::set_num_threads(1), true);

/// Of different lengths, with a prompt that is not scored.
inline std::vector<nn::ScoredRow> small_rows(std::size_t count, std::uint64_t seed) {
    std::vector<nn::ScoredRow> rows(count);
    for (std::size_t b = 0; b < count; ++b) {
        const std::size_t length = 5 + (b * 3 + seed) % 4;  // at most 9: a context of 8 and one
        for (std::size_t i = 0; i < length; ++i) {
            rows[b].tokens.push_back(
                static_cast<int>(nn::counter_hash(seed * 1000 + b * 17 + i) % 11));
            rows[b].scored.push_back(i >= 2 + b % 2);
        }
    }
    return rows;
}

inline nn::Decoder small_decoder(const nn::DecoderConfig& config) {
    nn::Decoder decoder(config, 3);
    nn::enlarge(decoder);
    return decoder;
}

/// Gradients of all blocks, after a backward pass from zero.
template <class Backward>
std::vector<at::Tensor> gradients_of(nn::Decoder& decoder, const Backward& backward) {
    for (auto& block : decoder.blocks()) block->zero_grad();
    backward();
    std::vector<at::Tensor> gradients;
    for (auto& block : decoder.blocks()) gradients.push_back(block->grad().clone());
    return gradients;
}

/// Largest difference over the largest entry.
inline double relative_difference(const std::vector<at::Tensor>& a,
                                  const std::vector<at::Tensor>& b) {
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference = std::max(difference, (a[i] - b[i]).abs().max().item<double>());
        largest = std::max(largest, b[i].abs().max().item<double>());
    }
    return difference / largest;
}

}  // namespace assay::dr_post_training
