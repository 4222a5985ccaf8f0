// The tokenizer beside a Hugging Face model: tokenizer.json, and which tokens open and close a
// text.
#pragma once

#include <nlohmann/json.hpp>

#include "impls/nn/text/vocabulary.hpp"

namespace assay::nn {

/// `tokenizer`: tokenizer.json with a byte-level BPE model. Throws UserError naming the part that
/// is missing, malformed or asks for what is not supported (normalizers, other pre-tokenizers, …).
Vocabulary vocabulary_from_tokenizer_json(const nlohmann::json& tokenizer);

/// Fills in start and end of text by name (bos_token, eos_token of tokenizer_config.json), or,
/// where that is silent, by id (bos_token_id, eos_token_id of config.json). Either may be null. A
/// name that is no token is a UserError.
void name_text_ends(Vocabulary&, const nlohmann::json& tokenizer_config,
                    const nlohmann::json& config);

}  // namespace assay::nn
