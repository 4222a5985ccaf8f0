// Byte-level byte-pair encoding as GPT-2, SmolLM2, LLaMA 3 and Qwen use it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::nn {

class TensorFile;   // files/tensor_file.hpp
struct Vocabulary;  // vocabulary.hpp

class Tokenizer {
  public:
    /// From the file's metadata: GGUF (tokenizer.ggml.*, model "gpt2", pre-tokenizers
    /// gpt-2/default, smollm, llama-bpe and qwen2) or a Hugging Face tokenizer.json (BPE,
    /// ByteLevel, optional Digits or the Split of LLaMA 3 or Qwen before it, optional NFC). Throws
    /// UserError naming what is not supported or inconsistent (merges with unknown tokens,
    /// duplicate tokens, ids out of range).
    static Tokenizer of(const TensorFile&);

    /// Throws UserError on tables that contradict themselves, as above.
    explicit Tokenizer(const Vocabulary&);

    /// Token ids = bytes, vocabulary 256, no special tokens: our own toy models.
    static Tokenizer bytes();

    /// Nothing is added in front or behind. `special`: whether special tokens written out in the
    /// text (<|im_start|>) are taken as such: never in what a user wrote. Bytes that are not
    /// UTF-8 are encoded as bytes. Qwen's tokenizers encode the text's composed form (NFC). Throws
    /// UserError where the vocabulary has no token for bytes of the text (see
    /// `bytes_without_token`): how many, and where the first is.
    std::vector<int> encode(std::string_view text, bool special = false) const;
    /// The same; what is thrown begins with the text's name ("FILE: …").
    std::vector<int> encode_named(std::string_view name, std::string_view text) const;

    /// Inverse (but for the composed form): the bytes of the tokens. Special tokens appear as
    /// written. Throws UserError on an id outside the vocabulary.
    std::string decode(std::span<const int> ids) const;

    int size() const;  ///< tokens of the vocabulary
    std::optional<int> end_of_text() const;
    std::optional<int> start_of_text() const;
    /// Of a special token as written, or of any other by the bytes it stands for.
    std::optional<int> id_of(std::string_view token) const;
    /// Number of bytes a token stands for: what bits per byte are counted over. Special tokens: 0.
    /// Throws UserError on an id outside the vocabulary.
    std::size_t bytes_of(int id) const;
    /// Where a continuation ends, ascending: end_of_text(), what else the file lists, and special
    /// tokens by which models of this kind close a document or a turn (<|endoftext|>, <|im_end|>,
    /// <|eot_id|>, <|end_of_text|>, </s>). A file may list ids beyond size().
    const std::vector<int>& text_ends() const;
    /// Bytes that cannot be encoded, in ascending order. SmolLM2 lacks 21: some control characters
    /// and bytes that UTF-8 text does not or hardly ever contain.
    std::string bytes_without_token() const;

  private:
    struct Table;
    std::shared_ptr<const Table> table_;
};

/// Ids below `vocabulary` that end a continuation by this model: the tokenizer's, or, without one,
/// those that the file lists. Throws UserError on what is no token id.
std::vector<int> text_ends(const TensorFile&, const Tokenizer* tokenizer, int vocabulary);

}  // namespace assay::nn
