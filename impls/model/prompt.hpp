// What commands are given to continue or to encode: texts, token ids, and the tokenizer for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/tokenizer.hpp"

namespace assay::model {

/// The value of an option; of "-" standard input to its end, less a line end there.
std::string given_text(std::string_view option, const std::string& value);

/// "1,504,3575". Throws UserError.
std::vector<int> parse_ids(std::string_view text);

/// A model's tokenizer, or why it cannot be used.
struct FoundTokenizer {
    std::optional<nn::Tokenizer> tokenizer;
    std::string why_not;

    const nn::Tokenizer* get() const { return tokenizer ? &*tokenizer : nullptr; }
};
FoundTokenizer find_tokenizer(const nn::TensorFile& file);

/// The ids of a prompt as it is, or as what a user says in the model's chat template. Throws
/// UserError: bytes without a token, a template of another kind than ChatML.
std::vector<int> prompt_ids(const nn::TensorFile& file, const nn::Tokenizer& tokenizer,
                            const std::string& text, bool chat);

}  // namespace assay::model
