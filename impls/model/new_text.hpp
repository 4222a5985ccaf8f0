// The text of a continuation while its tokens come, and where it ends.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "impls/nn/text/tokenizer.hpp"

namespace assay::model {

class NewText {
  public:
    /// It ends before a token that is one of `stop_ids`, and before the first of `stops`. Throws
    /// UserError where one of these is empty.
    NewText(const nn::Tokenizer& tokenizer, std::vector<int> stop_ids,
            std::vector<std::string> stops);

    /// The next token. True: it completes one of `stops`, and is the last.
    bool add(int id);
    const std::string& text() const { return text_; }
    /// Bytes of the text that no later token can change: behind them a stop string, or a character
    /// of several bytes, may have begun.
    std::size_t settled() const;

  private:
    nn::Tokenizer tokenizer_;
    std::vector<int> stop_ids_;
    std::vector<std::string> stops_;
    std::string text_;
};

}  // namespace assay::model
