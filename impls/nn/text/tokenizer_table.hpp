// What a Tokenizer looks up: a Vocabulary that was checked, in the forms that encoding needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "impls/nn/text/tokenizer.hpp"
#include "impls/nn/text/vocabulary.hpp"

namespace assay::nn {

/// Byte-pair merges in token ids.
class Merges {
  public:
    /// `rank`: lower ones are merged first. Returns false if the pair is there already.
    bool add(int left, int right, int rank, int merged);

    /// Merges a word's tokens until no pair is left that can be: lowest rank first, leftmost first
    /// among equals. O(n log n) for n tokens.
    void apply(std::vector<int>& word) const;

  private:
    struct Merge {
        int rank;
        int merged;
    };
    struct PairHash {
        std::size_t operator()(std::uint64_t pair) const {
            pair *= 0x9e3779b97f4a7c15ULL;  // spreads ids, which are small, over all bits
            return pair ^ pair >> 32;
        }
    };

    const Merge* find(int left, int right) const;

    std::unordered_map<std::uint64_t, Merge, PairHash> merges_;
};

/// Tokens that are looked for in a text as they are written, before it is cut into words.
class WrittenTokens {
  public:
    void add(std::string_view written, int id);

    struct Found {
        std::size_t at;  ///< text.size(): none
        std::size_t bytes;
        int id;
    };
    /// The first one in the text, the longest among those that start there.
    Found first(std::string_view text) const;

  private:
    struct Entry {
        std::string written;
        int id;
    };
    std::array<std::vector<Entry>, 256> by_first_byte_;  ///< longest first
};

/// Bytes of a text that the vocabulary has no token for.
struct BytesWithoutToken {
    std::size_t count = 0;
    const char* first = nullptr;
};

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
    /// Cuts a text without special tokens into words, merges each, and appends the tokens. Bytes
    /// without a token are left out and noted.
    void append_words(std::string_view text, std::vector<int>& ids, BytesWithoutToken&) const;

    std::vector<Entry> tokens;
    std::unordered_map<std::string_view, int> ids;
    std::array<int, 256> byte_tokens;  ///< −1: the vocabulary lacks it
    Merges merges;
    WrittenTokens literals;
    WrittenTokens all_written;  ///< literals and control tokens
    WordRule words;
    bool words_before_merges, composed;
    std::optional<int> start_of_text;
    std::optional<int> end_of_text;
    std::vector<int> text_ends;  ///< ascending

  private:
    void add_token(int id, const Token&);
    void add_merge(int rank, const std::pair<std::string, std::string>&);
    int part_of_merge(int rank, const std::string& written) const;
    void append_word(std::string_view word, std::vector<int>& ids, BytesWithoutToken&) const;
};

}  // namespace assay::nn
