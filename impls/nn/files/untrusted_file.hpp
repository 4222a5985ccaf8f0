// What the readers of model files share: a file comes from elsewhere, is mapped whole, and is
// refused with its name and what is wrong where it is malformed.
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

/// A whole file in memory, read-only, without copying it.
class Mapping {
  public:
    /// Throws UserError when `path` is no readable regular file.
    explicit Mapping(const std::filesystem::path& path);
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping();

    std::span<const std::byte> bytes() const { return bytes_; }
    /// Whole pages of `part` leave this process's memory until they are read again; what is not
    /// within the file stays.
    void forget(std::span<const std::byte> part) const;

  private:
    std::span<const std::byte> bytes_;
};

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
