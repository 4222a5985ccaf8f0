// GGUF version 2 and 3 (github.com/ggml-org/ggml, docs/gguf.md): header, key-value pairs, tensor
// list, padding, tensor data.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "impls/nn/files/stored_tensor.hpp"

namespace assay::nn {

struct GgufContent {
    /// Every pair under its full key ("llama.block_count"). Strings are the file's bytes, which
    /// need not be UTF-8.
    nlohmann::json metadata = nlohmann::json::object();
    std::vector<TensorEntry> tensors;  ///< in the file's order; they point into `bytes`
};

bool begins_as_gguf(std::span<const std::byte> bytes);
/// `file`: what messages call it. Throws UserError on anything malformed.
GgufContent parse_gguf(std::string_view file, std::span<const std::byte> bytes);

}  // namespace assay::nn
