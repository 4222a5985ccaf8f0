// Base64 of RFC 4648, section 4, with padding.
#include <array>
#include <cstdint>
#include <stdexcept>

#include "suite/exchange/json_lines.hpp"

namespace assay::exchange {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= count ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

std::string from_base64(std::string_view text) {
    if (text.size() % 4 != 0) throw std::invalid_argument("base64 of a broken length");
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t at = 0; at < text.size(); at += 4) {
        const bool last = at + 4 == text.size();
        const std::size_t padding =
            last ? std::size_t{text[at + 3] == '='} + std::size_t{text.substr(at + 2) == "=="} : 0;
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const auto digit = i >= 4 - padding ? 0 : digits.find(text[at + i]);
            if (digit == digits.npos) throw std::invalid_argument("a character that is not base64");
            bits = bits << 6 | static_cast<std::uint32_t>(digit);
        }
        for (std::size_t i = 0; i < 3 - padding; ++i)
            bytes += static_cast<char>(bits >> (16 - 8 * i) & 0xff);
    }
    return bytes;
}

}  // namespace assay::exchange
