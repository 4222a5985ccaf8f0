// SHA-256 (FIPS 180-4), for content addresses and for checking downloaded files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

/// Incremental: update() any number of times, then hex() once.
class Sha256 {
  public:
    void update(std::string_view bytes);
    std::string hex();  ///< 64 lower-case digits; ends the computation

  private:
    void block(const unsigned char* bytes);

    std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, 64> pending_{};
    std::size_t pending_bytes_ = 0;
    std::uint64_t total_bytes_ = 0;
};

std::string sha256_hex(std::string_view bytes);

/// Of a file's contents, read in pieces. Throws std::system_error when it cannot be read.
std::string sha256_file_hex(const std::filesystem::path& file);

}  // namespace assay
