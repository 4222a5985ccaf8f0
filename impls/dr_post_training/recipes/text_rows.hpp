// Rows of natural text for a pretrained model: dictionaries and the Bible as the general pool, a
// dictionary of computing as the target. Torch-free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/dr_post_training/recipes/pools.hpp"
#include "impls/nn/text/scored_rows.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::dr_post_training {

struct Definition {
    std::string word, text;  ///< text: in one line
    bool operator==(const Definition&) const = default;
};

/// Entries of a dictionary as dictd has them: lines of head words without indent (the first word
/// counts, up to "%%%", a back slash, a comma or the end), then indented ones. Entries about the
/// dictionary itself ("00-…") and those with fewer than 40 characters of text are left out. Throws
/// UserError ("ORIGIN: …") where fewer than `least` are left.
std::vector<Definition> parse_definitions(std::string_view text, std::string_view origin,
                                          std::size_t least);

/// Lines of at least eight words. Throws UserError ("ORIGIN: …") where fewer than `least` are left.
std::vector<std::string> parse_verses(std::string_view text, std::string_view origin,
                                      std::size_t least);

/// The pool and the target of one seed, as text. Prompts: "Define: WORD\n", "Continue: FOUR
/// WORDS\n".
class TextRows {
  public:
    /// `general` and `target`: of dictionaries; verses are what is neither related nor contrary.
    TextRows(std::vector<Definition> general, std::vector<std::string> verses,
             std::vector<Definition> target, std::uint64_t seed);

    /// related: a definition; contrary: a word with the definition of another; other: a verse.
    PoolRow general_row(const PoolShape& shape, std::uint64_t number) const;
    /// Entries of different uses differ, and so do those of one. Throws UserError past the last.
    PoolRow target_row(Use use, std::uint64_t number) const;

  private:
    const Definition& drawn(const std::vector<Definition>& from, std::uint64_t stream,
                            std::uint64_t number) const;

    std::vector<Definition> general_, target_;
    std::vector<std::string> verses_;
    std::uint64_t seed_;
};

/// At most this many tokens a row; what is longer ends there.
inline constexpr std::size_t text_row_tokens = 64;
nn::ScoredRow cut_row(const PoolRow& row, const nn::Tokenizer& tokenizer);

/// The data sets that a sample on SmolLM2 reads: weights, general text, target text.
struct TextSources {
    std::string weights = "smollm2-135m-instruct", dictionary = "dict-gcide", verses = "bible-kjv",
                target = "dict-foldoc";
};
/// Which of them has not been fetched, as a sentence; std::nullopt: all are here.
std::optional<std::string> text_lacks(const TextSources& = {});
std::vector<Input> text_inputs(const TextSources& = {});
/// The files, read. Throws SampleError (unsupported) where one is not here.
TextRows read_text_rows(std::uint64_t seed, const TextSources& = {});
std::filesystem::path weights_file(const TextSources& = {});

}  // namespace assay::dr_post_training
