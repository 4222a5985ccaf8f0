// Archives that are not what was written, made so on purpose.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/foundry/campaign/draw.hpp"

namespace assay::foundry {

/// Damages a file: a bit of the byte at `at`.
void flip_bit(const std::filesystem::path& file, std::int64_t at, int bit);

/// A bit of any byte of any of the archive's files.
void flip_a_bit(const std::filesystem::path& archive, Draw& draw);

/// Any of its files ends early.
void cut_short(const std::filesystem::path& archive, Draw& draw);

/// A copy of an archive, beside it, with a bit flipped; removed with this.
class DamagedCopy {
  public:
    DamagedCopy(const std::filesystem::path& archive, Draw& draw);
    ~DamagedCopy();
    DamagedCopy(const DamagedCopy&) = delete;
    DamagedCopy& operator=(const DamagedCopy&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace assay::foundry
