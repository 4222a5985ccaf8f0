// Which word rule the pre-tokenizer of a tokenizer.json is.
#pragma once

#include <nlohmann/json.hpp>

#include "impls/nn/text/words.hpp"

namespace assay::nn {

/// ByteLevel is gpt2, Digits before it smollm, Split by LLaMA 3's pattern before it llama3. Throws
/// UserError on any other.
WordRule words_of_pre_tokenizer(const nlohmann::json& pre_tokenizer);

}  // namespace assay::nn
