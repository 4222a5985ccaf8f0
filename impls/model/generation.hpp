// Continuing a prompt.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/decode/batch_engine.hpp"
#include "impls/model/new_text.hpp"

namespace assay::model {

struct Generation {
    std::vector<int> prompt_ids;
    std::vector<int> ids;             ///< new ones; the last may be what ended the text
    std::optional<std::string> text;  ///< of the new ids, without its end; absent: no tokenizer
    double prefill_s = 0;             ///< until the first new token's logits
    double decode_s = 0;              ///< all further steps
    int decode_steps = 0;
    std::uint64_t bytes_per_token = 0;  ///< that a step half-way through the continuation reads
    decode::Finish finish = decode::Finish::length;
};

/// What a request makes in an engine with nothing else to do. `text`: where the tokens' text is
/// written, with the request's stops; null: the model has no tokenizer. `on_text` hears every piece
/// of text. Throws UserError: what the engine refuses, logits without a softmax.
Generation generate(decode::BatchEngine& engine, const decode::BatchRequest& request, NewText* text,
                    const std::function<void(std::string_view)>& on_text = {});

/// Decoding against what memory allows.
struct AgainstBound {
    double read_bytes_per_s = 0;  ///< measured
    double tokens_per_s = 0;
    double bound_tokens_per_s = 0;  ///< read_bytes_per_s over the bytes a token reads
    double share() const { return tokens_per_s / bound_tokens_per_s; }
};
/// nullopt when nothing was decoded.
std::optional<AgainstBound> against_bound(const Generation& generation, double read_bytes_per_s);

/// {"prompt_ids","ids","text","finish","prefill_s","decode_s"}.
nlohmann::json to_json(const Generation& generation);
nlohmann::json to_json(const AgainstBound& bound);

}  // namespace assay::model
