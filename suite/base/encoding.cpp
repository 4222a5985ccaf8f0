#include "suite/base/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_values() {
    std::array<std::int8_t, 256> values{};
    for (auto& value : values) value = -1;
    for (std::size_t i = 0; i < alphabet.size(); ++i)
        values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
    return values;
}
constexpr auto values = make_values();

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j)
            group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j)
            text += j <= count ? alphabet[group >> (18 - 6 * j) & 63U] : '=';
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::size_t padding = 0;
    while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
        ++padding;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::uint32_t group = 0;
        const std::size_t digits = i + 4 == text.size() ? 4 - padding : 4;
        for (std::size_t j = 0; j < 4; ++j) {
            const int value = j < digits ? values[static_cast<unsigned char>(text[i + j])] : 0;
            if (value < 0) return std::nullopt;
            group = group << 6 | static_cast<std::uint32_t>(value);
        }
        for (std::size_t j = 0; j + 1 < digits; ++j)
            bytes += static_cast<char>(group >> (16 - 8 * j) & 255U);
    }
    return bytes;
}

namespace {

std::string quoted(const std::string& field) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string out = "\"";
    for (const char c : field) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
    std::string out;
    for (const std::string& field : fields) {
        if (&field != fields.data()) out += ',';
        out += quoted(field);
    }
    return out + '\n';
}

nlohmann::json finite_or_null(double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json finite_or_null(const std::optional<double>& value) {
    return value ? finite_or_null(*value) : nlohmann::json();
}

namespace {

/// As bash, zsh and ksh read it: on one line, and nothing that a terminal obeys.
std::string ansi_quoted(std::string_view word) {
    std::string text = "$'";
    for (const unsigned char c : word) {
        if (c == '\'' || c == '\\')
            text += {'\\', static_cast<char>(c)};
        else if (c < ' ' || c == 0x7f)
            text += fmt::format("\\x{:02x}", c);
        else
            text += static_cast<char>(c);
    }
    return text + "'";
}

}  // namespace

std::string shell_quoted(std::string_view word) {
    constexpr std::string_view harmless =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+";
    if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos)
        return std::string(word);
    const auto controls = [](unsigned char c) { return c < ' ' || c == 0x7f; };
    if (std::any_of(word.begin(), word.end(), controls)) return ansi_quoted(word);
    std::string text = "'";
    for (const char c : word) {
        if (c == '\'')
            text += "'\\''";
        else
            text += c;
    }
    return text + "'";
}

std::string shell_quoted(int argc, const char* const* argv) {
    std::string text;
    for (int i = 0; i < argc; ++i) {
        if (i > 0) text += ' ';
        text += shell_quoted(std::string_view(argv[i]));
    }
    return text;
}

}  // namespace assay
