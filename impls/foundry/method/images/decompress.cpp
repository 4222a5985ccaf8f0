// Decompressing what a fatbin's entry holds, into no more memory than the entry says.
#include <lz4.h>
#include <zstd.h>

#include "impls/foundry/method/images/formats.hpp"

namespace assay::foundry {
namespace {

/// Refused before memory is asked for: at most so many bytes come of one. A match of LZ4 grows by
/// 255 a byte; a block of zstd has 128 KiB at most and four bytes at least.
void check_size(std::span<const std::byte> stored, Compression compression, std::uint64_t bytes) {
    const std::uint64_t most = compression == Compression::lz4 ? 255 : (128 << 10) / 4;
    if (bytes > largest_decompressed || bytes / most > stored.size() ||
        stored.size() > LZ4_MAX_INPUT_SIZE)
        throw ImageError(fmt::format("{} bytes of {} cannot be {} bytes of code", stored.size(),
                                     word_of(compression), bytes));
}

}  // namespace

std::vector<std::byte> decompress(std::span<const std::byte> stored, Compression compression,
                                  std::uint64_t bytes) {
    check_size(stored, compression, bytes);
    std::vector<std::byte> code(bytes);
    bool is_whole = false;
    if (compression == Compression::zstd) {
        is_whole = ZSTD_decompress(code.data(), bytes, stored.data(), stored.size()) == bytes;
    } else {
        const int written = LZ4_decompress_safe(
            reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(code.data()),
            static_cast<int>(stored.size()), static_cast<int>(bytes));
        is_whole = written >= 0 && static_cast<std::uint64_t>(written) == bytes;
    }
    if (!is_whole)
        throw ImageError(fmt::format("{} bytes of {} do not decompress to {} bytes: damaged",
                                     stored.size(), word_of(compression), bytes));
    return code;
}

}  // namespace assay::foundry
