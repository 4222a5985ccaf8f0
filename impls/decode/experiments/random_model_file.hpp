// Model files with random weights: for time alone.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/nn/files/stored_tensor.hpp"

namespace assay::decode {

/// A shape of LLaMA's family, embeddings tied, and the type of all its matrices. Without more said:
/// layers of about 6 MiB in bf16.
struct RandomModel {
    int layers = 1, width = 512, hidden = 1536;
    int heads = 8, kv_heads = 4, head_width = 64;
    int vocabulary = 4096, context = 2048;
    nn::TensorType type = nn::TensorType::bf16;
};

/// With as many layers in bf16 as make about so many MiB; at least one.
RandomModel random_model_of(int mebibytes, int context);

/// Weights of bf16 are all drawn, of about 1/sqrt(columns); those of the q types are a million
/// (kernels/cpu/random_weights.hpp), repeated. The file says that it has no tokenizer, so that
/// other engines read it, too. Returns the bytes of its matrices. Throws UserError when it cannot
/// be written.
std::uint64_t write_random_model(const std::filesystem::path& path, const RandomModel& model,
                                 std::uint64_t seed);

}  // namespace assay::decode
