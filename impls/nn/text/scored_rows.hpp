// Rows to fine-tune on: tokens of which only some are scored, the answers and not the questions.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/text/tokenizer.hpp"

namespace assay::nn {

struct ScoredRow {
    std::vector<int> tokens;
    std::vector<bool> scored;  ///< as many; the first token is predicted from nothing, never scored

    std::size_t scored_tokens() const;
};

struct RowReading {
    int context = 2048;          ///< a row keeps at most this many tokens and one
    std::string default_system;  ///< ChatML's, put before messages that begin with none
};

/// A prompt that is not scored, and what follows it, which is.
ScoredRow answered_prompt(std::string_view prompt, std::string_view answer, const Tokenizer&);

/// JSON Lines, one row a line, empty lines passed over:
///   {"messages": [{"role": …, "content": …}, …]}   ChatML; the turns of the assistant are scored,
///                                                  with the <|im_end|> that closes each
///   {"prompt": …, "completion": …}                 the completion is scored
///   {"text": …}                                    everything is scored
/// Other members are passed over. `origin`: what errors call the text. Throws UserError
/// ("ORIGIN:LINE: …"): no JSON, none of these, a row of which nothing is scored within the context,
/// messages for a tokenizer that lacks ChatML's tokens; no rows at all.
std::vector<ScoredRow> parse_scored_rows(std::string_view text, std::string_view origin,
                                         const Tokenizer&, const RowReading& = {});

/// The same of a file. Throws UserError also when it cannot be read.
std::vector<ScoredRow> read_scored_rows(const std::filesystem::path& file, const Tokenizer&,
                                        const RowReading& = {});

}  // namespace assay::nn
