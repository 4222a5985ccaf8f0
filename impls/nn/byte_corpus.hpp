// A text as a sequence of bytes, and batches drawn from it as a function of (seed, step, position).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace assay::nn {

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

}  // namespace assay::nn
