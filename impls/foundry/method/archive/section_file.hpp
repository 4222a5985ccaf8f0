// The container of the archive's binary files: a header, a directory, and sections that begin at
// multiples of 16 bytes, so that arrays are read where they lie in a mapped file. All numbers are
// little-endian.
//
//     8 bytes magic, u32 version, u32 sections
//     per section: u32 id, u32 zero, u64 offset, u64 bytes
//     the sections, one behind another, zeros between them
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::foundry {

static_assert(std::endian::native == std::endian::little, "arrays are read where they lie");

inline constexpr std::uint32_t archive_version = 1;
inline constexpr std::uint64_t section_alignment = 16;

/// Takes a file's bytes, piece by piece.
using ByteSink = std::function<void(std::span<const std::byte>)>;

/// Zeros up to the next multiple of section_alignment.
void pad(const ByteSink& sink, std::uint64_t written);

class SectionWriter {
  public:
    explicit SectionWriter(std::string_view magic) : magic_(magic) {}

    /// Ids rise. `content` must stay valid until write().
    template <class Id, class Array>
    void add(Id id, const Array& content) {
        const auto bytes = std::as_bytes(std::span(content));
        sections_.emplace_back(static_cast<std::uint32_t>(id), bytes);
    }
    template <class Id, class Array>
    void add(Id id, const Array&& content) = delete;
    void write(const ByteSink& sink) const;

  private:
    std::string_view magic_;
    std::vector<std::pair<std::uint32_t, std::span<const std::byte>>> sections_;
};

class SectionFile {
  public:
    /// Throws DamagedArchive for anything but a file that SectionWriter wrote with this magic and
    /// version. `file` begins at a multiple of section_alignment and must stay valid; `name` is
    /// what errors call it.
    SectionFile(std::span<const std::byte> file, std::string_view magic, std::string name);

    /// DamagedArchive where it is not there or holds no whole number of T.
    template <class T, class Id>
    std::span<const T> array(Id id) const {
        static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= section_alignment);
        const auto bytes = section(static_cast<std::uint32_t>(id), sizeof(T));
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    const std::string& name() const { return name_; }
    [[noreturn]] void refuse(std::string_view why) const;

  private:
    struct Entry {
        std::uint32_t id, zero;
        std::uint64_t offset, bytes;
    };
    std::span<const std::byte> section(std::uint32_t id, std::size_t multiple) const;

    std::span<const std::byte> file_;
    std::span<const Entry> directory_;
    std::string name_;

    friend class SectionWriter;
};

}  // namespace assay::foundry
