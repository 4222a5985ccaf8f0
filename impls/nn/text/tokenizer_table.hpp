// What a Tokenizer looks up: a Vocabulary that was checked, in the forms that encoding needs.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "impls/nn/text/merges.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "impls/nn/text/written_tokens.hpp"

namespace assay::nn {

struct Tokenizer::Table {
    /// Throws UserError: see Tokenizer.
    explicit Table(const Vocabulary&);
    Table(const Table&) = delete;  // `ids` points into `tokens`
    Table& operator=(const Table&) = delete;

    struct Entry {
        std::string text;  ///< its bytes; of special tokens: as written
        bool special = false;
    };

    /// Throws UserError on an id outside the vocabulary.
    const Entry& at(int id) const;
    /// Cuts a text without special tokens into words, merges each, and appends the tokens.
    void append_words(std::string_view text, std::vector<int>& ids) const;

    std::vector<Entry> tokens;
    std::unordered_map<std::string_view, int> ids;
    std::array<int, 256> byte_tokens;  ///< −1: the vocabulary lacks it
    Merges merges;
    WrittenTokens literals;
    WrittenTokens all_written;  ///< literals and control tokens
    WordRule words;
    bool words_before_merges;
    std::optional<int> start_of_text;
    std::optional<int> end_of_text;

  private:
    void add_token(int id, const Token&);
    void add_merge(int rank, const std::pair<std::string, std::string>&);
    int part_of_merge(int rank, const std::string& written) const;
    void append_word(std::string_view word, std::vector<int>& ids) const;
};

}  // namespace assay::nn
