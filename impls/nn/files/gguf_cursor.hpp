// Walks through the header of a GGUF file; no read goes beyond its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "impls/nn/files/little_endian.hpp"

namespace assay::nn {

class GgufCursor {
  public:
    GgufCursor(std::string_view file, std::span<const std::byte> bytes)
        : file_(file), bytes_(bytes) {}

    std::size_t position() const { return at_; }

    /// `what` says what is being read, for the UserError of a file that ends before it.
    template <class Number>
    Number number(std::string_view what) {
        return little_endian<Number>(take(sizeof(Number), what));
    }
    std::string string(std::string_view what);
    /// A value of a key-value pair: its type, then the value.
    nlohmann::json value(std::string_view what);
    /// A count of things that take at least `least_bytes` each; refused when the rest of the file
    /// cannot hold them, so that nothing is ever allocated for a count alone.
    std::uint64_t count(std::string_view what, std::size_t least_bytes);

    [[noreturn]] void refuse(std::string_view what) const;

  private:
    const std::byte* take(std::uint64_t bytes, std::string_view what);
    nlohmann::json value_of(std::uint32_t type, std::string_view what, int depth);
    nlohmann::json array(std::string_view what, int depth);

    std::string_view file_;
    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
};

}  // namespace assay::nn
