// Texts to train on, and batches drawn from them as a function of (seed, step, position).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "impls/nn/text/tokenizer.hpp"

namespace assay::nn {

/// A text as a sequence of bytes.
class ByteCorpus {
  public:
    /// Throws UserError when the file cannot be read or is shorter than `minimum_bytes`.
    explicit ByteCorpus(const std::filesystem::path& file, std::int64_t minimum_bytes = 4096);
    static ByteCorpus from_text(std::string text);

    /// `sequences` windows of `length` + 1 bytes, int64 [sequences, length + 1]. `first` is the
    /// number of the first sequence within the global batch of this step: whoever asks, the same
    /// number of the same step gives the same window.
    at::Tensor batch(std::uint64_t seed, std::int64_t step, std::int64_t first,
                     std::int64_t sequences, std::int64_t length) const;

    std::int64_t bytes() const { return static_cast<std::int64_t>(text_.size()); }

  private:
    ByteCorpus() = default;
    std::string text_;
};

/// A text as token ids, split into training and held-out parts.
class TokenData {
  public:
    /// The last `held_out` share (0 … 0.5) of the text, cut at a line's end, is never trained on.
    /// Both parts are encoded apart. With a share of 0 there are no held-out windows.
    /// Throws UserError: a folder, unreadable, or too short for one window of `context` + 1 tokens
    /// in either part.
    TokenData(const std::filesystem::path& file, const Tokenizer&, double held_out, int context);
    static TokenData from_text(std::string text, const Tokenizer&, double held_out, int context);

    /// `sequences` training windows of context + 1 tokens, int64, a function of (seed, step).
    at::Tensor batch(std::uint64_t seed, std::int64_t step, int sequences) const;

    /// Held-out windows one after another, each of context + 1 tokens, overlapping by one token (so
    /// that every token but the first of all is scored once; a rest shorter than a window is left
    /// out). At most `limit` windows, evenly spread; 0: all.
    std::vector<at::Tensor> held_out_batches(int sequences, int limit) const;

    std::int64_t training_tokens() const;
    std::int64_t held_out_tokens() const;
    /// Bytes that the scored tokens (all but the first of each window) of
    /// held_out_batches(…, limit) stand for: what bits per byte are counted over.
    std::int64_t held_out_bytes(int limit) const;

    /// 64-bit hash of the tokens of both parts and of the context: equal data, equal digest.
    std::uint64_t digest() const;

  private:
    TokenData() = default;
    void fill(std::string_view text, const Tokenizer&, double held_out, int context,
              const std::string& origin);

    std::vector<std::size_t> held_out_starts(int limit) const;

    std::vector<std::int32_t> training_, held_out_;
    std::vector<std::int64_t> held_out_bytes_before_;  ///< each held-out token; the last: of all
    std::uint64_t digest_ = 0;
    int context_ = 0;
};

}  // namespace assay::nn
