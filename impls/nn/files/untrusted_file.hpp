// What the readers of model files share: a file comes from elsewhere, may change while it is read,
// and is refused with its name and what is wrong where it is malformed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "suite/base/file_descriptor.hpp"

namespace assay::nn {

/// Throws UserError "FILE: WHAT".
[[noreturn]] void malformed(std::string_view file, std::string_view what);

/// A name out of a file for a message: in quotes, at most 80 bytes of it, all but printable ASCII
/// as \xNN.
std::string shown(std::string_view name);

static_assert(std::endian::native == std::endian::little,
              "tensors are read where they lie; a big-endian machine would have to swap them");

/// A number out of unaligned bytes.
template <class Number>
Number little_endian(const std::byte* at) {
    static_assert(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>);
    Number number;
    std::memcpy(&number, at, sizeof number);
    return number;
}

/// A file that is read where bytes of it are asked for, or bytes in memory. It is not mapped: a
/// page that is no longer in the file when it is read would end the process by SIGBUS.
class UntrustedFile {
  public:
    /// Throws UserError when `path` is no readable regular file.
    explicit UntrustedFile(const std::filesystem::path& path);
    /// `name`: for messages. `bytes` must outlive it.
    UntrustedFile(std::string name, std::span<const std::byte> bytes);

    const std::string& name() const { return name_; }
    std::uint64_t size() const { return size_; }  ///< bytes when it was opened
    /// The bytes from `offset` on, as many as `out` has. Threads may read at the same time. Throws
    /// UserError "FILE: …" when the file has become shorter or cannot be read, std::out_of_range
    /// beyond size().
    void read(std::uint64_t offset, std::span<std::byte> out) const;
    /// All of it. Throws UserError like read(), and when it has more than `most` bytes.
    std::string text(std::uint64_t most) const;

  private:
    std::string name_;
    FileDescriptor file_;                ///< of this,
    std::span<const std::byte> memory_;  ///< or this
    std::uint64_t size_;
};

/// More of what a model's files say in JSON is not read: the limit of safetensors for its header.
constexpr std::uint64_t most_json_bytes = 100'000'000;

/// JSON in which a key given twice, or nesting so deep that handling the value could exhaust the
/// stack, is refused. Throws UserError "FILE: …".
nlohmann::json strict_json(std::string_view file, std::string_view text);

/// The member of a JSON object, or null: absent, or `parent` is no object.
const nlohmann::json& member(const nlohmann::json& parent, const char* key);
/// What a value is, for messages: "48", "the decimal number 64.0", "the text \"32\"", "a list".
std::string value_text(const nlohmann::json&);
/// A whole number from 0 to limit − 1; nullopt: anything else.
std::optional<std::int64_t> number_below(std::int64_t limit, const nlohmann::json&);

}  // namespace assay::nn
