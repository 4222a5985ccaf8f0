// GGUF version 2 and 3 (github.com/ggml-org/ggml, docs/gguf.md): header, key-value pairs, tensor
// list, padding, tensor data.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "impls/nn/files/stored_tensor.hpp"

namespace assay::nn {

struct GgufContent {
    /// Every pair under its full key ("llama.block_count"). Strings are the file's bytes, which
    /// need not be UTF-8. Lists of u8, i8 and truth values are binary values of these bytes, with
    /// GGUF's number of the type for subtype, so that none takes 16 times what it takes in the
    /// file.
    nlohmann::json metadata = nlohmann::json::object();
    std::vector<TensorEntry> tensors;  ///< in the file's order; they point to the file
};

bool begins_as_gguf(const UntrustedFile& file);
/// Throws UserError on anything malformed.
GgufContent parse_gguf(const UntrustedFile& file);

}  // namespace assay::nn
