// What `assay model show` says of a file.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/nn/files/decoder_config.hpp"

namespace assay::model {

/// All tensors of one type.
struct TypeShare {
    nn::TensorType type = nn::TensorType::f32;
    std::int64_t tensors = 0, elements = 0;
    std::uint64_t bytes = 0;
};

struct TokenizerSummary {
    int size = 0;
    std::optional<int> start_of_text, end_of_text;
    bool chat = false;  ///< a chat template that `assay model generate --chat` knows
};

struct Summary {
    std::string file, format;
    std::uint64_t file_bytes = 0;
    nn::DecoderConfig config;
    std::vector<TypeShare> types;  ///< the largest first
    std::optional<TokenizerSummary> tokenizer;
    std::string no_tokenizer;  ///< why there is none
    /// Of the decoder's fp32 cache, for one position over all layers.
    std::uint64_t kv_cache_bytes_per_token = 0;
};

/// Throws UserError when the file is no model that the decoders know, or lacks a tensor.
Summary summarise(const nn::TensorFile& file);

nlohmann::json to_json(const Summary& summary);
std::string to_text(const Summary& summary);

}  // namespace assay::model
