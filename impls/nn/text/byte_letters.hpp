// Byte-level vocabularies are written with one printable character per byte (GPT-2): bytes that are
// printable in Latin-1 stand for themselves, the other 68 are U+0100 … U+0143 in their order.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::nn {

/// The bytes that a text written in byte letters stands for; nullopt: a character is no byte
/// letter.
std::optional<std::string> from_byte_letters(std::string_view written);

/// Inverse.
std::string to_byte_letters(std::string_view bytes);

}  // namespace assay::nn
