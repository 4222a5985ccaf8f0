// A whole file in memory, read-only, without copying it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace assay::nn {

class Mapping {
  public:
    /// Throws UserError when `path` is no readable regular file.
    explicit Mapping(const std::filesystem::path& path);
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping();

    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace assay::nn
