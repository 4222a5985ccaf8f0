// Tokens' bytes by a model's tokenizer, for requests that stop at texts.
#pragma once

#include <optional>
#include <string>

#include "impls/decode/requests/stop_texts.hpp"
#include "impls/nn/text/tokenizer.hpp"

namespace assay::decode {

/// Empty without a tokenizer. A model may have more ids than its tokenizer: they have no bytes.
inline TextOf texts_of(const std::optional<nn::Tokenizer>& tokenizer) {
    if (!tokenizer) return {};
    return [tokenizer = *tokenizer](int id) {
        return id < tokenizer.size() ? tokenizer.decode({&id, 1}) : std::string();
    };
}

}  // namespace assay::decode
