// Writes GGUF version 3 (github.com/ggml-org/ggml, docs/gguf.md): what gguf.hpp reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "impls/nn/files/stored_tensor.hpp"

namespace assay::nn {

struct TensorToWrite {
    std::string name;
    TensorType type = TensorType::f32;
    std::vector<std::int64_t> shape;  ///< outermost first
    std::vector<std::byte> bytes;     ///< as the type stores them
};

/// `values` as `type`: f32 as they are, bf16 rounded to nearest even. Throws std::logic_error for
/// other types.
std::vector<std::byte> stored_as(TensorType type, std::span<const float> values);

/// metadata: an object of truth values, numbers, strings, flat lists of these, and lists of bytes
/// as gguf.hpp reads them. Fractions are kept as 32-bit floats, whole numbers as 32 bits where they
/// fit. The file appears under its name when it is whole. Throws UserError when it cannot be
/// written.
void write_gguf(const std::filesystem::path& path, const nlohmann::json& metadata,
                std::span<const TensorToWrite> tensors);

}  // namespace assay::nn
