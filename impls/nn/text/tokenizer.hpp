// Byte-level byte-pair encoding as GPT-2, SmolLM2 and LLaMA 3 use it, and chat templates.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {

class Tokenizer {
  public:
    /// From the file's metadata: GGUF (tokenizer.ggml.*, model "gpt2", pre-tokenizers gpt-2/default
    /// and smollm) or a Hugging Face tokenizer.json (BPE, ByteLevel, optional Digits before it).
    /// Throws UserError naming what is not supported or inconsistent (merges with unknown tokens,
    /// duplicate tokens, ids out of range).
    static Tokenizer of(const TensorFile&);

    /// Token ids = bytes, vocabulary 256, no special tokens: our own toy models.
    static Tokenizer bytes();

    /// Nothing is added in front or behind. `special`: whether special tokens written out in the
    /// text (<|im_start|>) are taken as such. Bytes that are not UTF-8 are encoded as bytes.
    std::vector<int> encode(std::string_view text, bool special = false) const;

    /// Inverse: the bytes of the tokens. Special tokens appear as written. Throws UserError on an
    /// id outside the vocabulary.
    std::string decode(std::span<const int> ids) const;

    int size() const;  ///< tokens of the vocabulary
    std::optional<int> end_of_text() const;
    std::optional<int> start_of_text() const;
    std::optional<int> id_of(std::string_view token) const;
    /// Number of bytes a token stands for: what bits per byte are counted over. Special tokens: 0.
    std::size_t bytes_of(int id) const;

  private:
    struct Table;
    std::shared_ptr<const Table> table_;
};

struct ChatMessage {
    std::string role;  ///< "system", "user", "assistant"
    std::string text;
};

/// ChatML: <|im_start|>role\ntext<|im_end|>\n …, then an opened assistant turn. SmolLM2 adds its
/// own system message when the first message is not one; `default_system` (may be empty) is that.
std::string chat_prompt(std::span<const ChatMessage> messages, std::string_view default_system);
/// The default system message of the file's template, where it is ChatML; nullopt: another
/// template.
std::optional<std::string> chat_default_system(const TensorFile&);

}  // namespace assay::nn
