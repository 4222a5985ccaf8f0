// The numbers by which GGUF files tell tensor types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {

/// nullopt: one we do not read.
std::optional<TensorType> gguf_tensor_type(std::uint32_t number);
/// "Q4_K", or "number 99" when GGUF does not define it. (Source: enum ggml_type.)
std::string gguf_tensor_type_name(std::uint32_t number);

}  // namespace assay::nn
