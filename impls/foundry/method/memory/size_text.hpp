// Sizes of memory and addresses as text: "256GiB", "0x600000000000".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::foundry {

/// A whole number of digits; nullopt: none, or of more than 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);

/// Bytes, or a whole number of a unit ("2MiB", "256GiB", "1GB"). nullopt: none, or of more than 64
/// bits.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// "0x600000000000", or decimal.
std::optional<std::uint64_t> parse_address(std::string_view text);

/// "256 GiB", "3.5 MiB", "100 B": binary, since everything in the region is.
std::string binary_bytes_text(std::uint64_t bytes);

/// "0x600000000000".
std::string address_text(std::uint64_t address);

}  // namespace assay::foundry
