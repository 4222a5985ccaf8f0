// The tokenizer inside a GGUF file.
#pragma once

#include <nlohmann/json.hpp>

#include "impls/nn/text/vocabulary.hpp"

namespace assay::nn {

/// From a GGUF file's key-value pairs (tokenizer.ggml.*). Throws UserError naming the key that is
/// missing, of the wrong kind, or asks for what is not supported.
Vocabulary vocabulary_from_gguf(const nlohmann::json& metadata);

}  // namespace assay::nn
