// A strict decoder (no overlong forms, no surrogates) and the widths of characters.
#include "suite/report/text/terminal_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace assay::report {
namespace {

struct CodeRange {
    char32_t first, last;
};
constexpr std::array zero_width{CodeRange{0x300, 0x36f},   CodeRange{0x1ab0, 0x1aff},
                                CodeRange{0x1dc0, 0x1dff}, CodeRange{0x200b, 0x200f},
                                CodeRange{0x20d0, 0x20ff}, CodeRange{0xfe00, 0xfe0f}};
constexpr std::array double_width{
    CodeRange{0x1100, 0x115f}, CodeRange{0x2e80, 0xa4cf},   CodeRange{0xac00, 0xd7a3},
    CodeRange{0xf900, 0xfaff}, CodeRange{0xfe30, 0xfe6f},   CodeRange{0xff00, 0xff60},
    CodeRange{0xffe0, 0xffe6}, CodeRange{0x1f300, 0x1faff}, CodeRange{0x20000, 0x3fffd}};

/// Beyond the control characters: marks of direction (they make text read otherwise than it is
/// stored), separators of lines and paragraphs, what shows nothing (soft hyphen, byte order mark,
/// tags), what is no character.
constexpr std::array unseen{
    CodeRange{0x00, 0x1f},     CodeRange{0x7f, 0x9f},     CodeRange{0xad, 0xad},
    CodeRange{0x61c, 0x61c},   CodeRange{0x200b, 0x200b}, CodeRange{0x200e, 0x200f},
    CodeRange{0x2028, 0x202e}, CodeRange{0x2060, 0x206f}, CodeRange{0xfeff, 0xfeff},
    CodeRange{0xfff9, 0xfffb}, CodeRange{0xfffe, 0xffff}, CodeRange{0xe0000, 0xe007f}};

template <std::size_t N>
bool within(const std::array<CodeRange, N>& ranges, char32_t value) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](CodeRange r) { return r.first <= value && value <= r.last; });
}

}  // namespace

CodePoint code_point(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(at);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    static constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return {0xfffd, 1, false};
    char32_t value = lead & (0x7f >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80) return {0xfffd, 1, false};
        value = (value << 6) | (byte(at + i) & 0x3f);
    }
    const bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < smallest[length] || value > 0x10ffff || surrogate) return {0xfffd, 1, false};
    return {value, length, true};
}

bool is_printable(const CodePoint& c) { return c.valid && !within(unseen, c.value); }

std::string printable(std::string_view text, std::string_view keep) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point(text, at);
        const std::string_view bytes = text.substr(at, c.bytes);
        at += c.bytes;
        if (is_printable(c) || (c.bytes == 1 && keep.find(bytes) != keep.npos))
            out += bytes;
        else if (c.value == '\n')
            out += "\\n";
        else if (c.value == '\r')
            out += "\\r";
        else if (c.value == '\t')
            out += "\\t";
        else if (!c.valid || c.value < 0x80)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
        else
            out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.value));
    }
    return out;
}

std::string printable_json(std::string_view dumped) {
    std::string out;
    out.reserve(dumped.size());
    for (std::size_t at = 0; at < dumped.size();) {
        const CodePoint c = code_point(dumped, at);
        const auto code = static_cast<std::uint32_t>(c.value);
        if (c.value == '\n' || is_printable(c))
            out += dumped.substr(at, c.bytes);
        else if (code < 0x10000)
            out += fmt::format("\\u{:04x}", code);
        else
            out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((code - 0x10000) >> 10),
                               0xdc00 + ((code - 0x10000) & 0x3ff));
        at += c.bytes;
    }
    return out;
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point(text, at);
        at += c.bytes;
        width += within(zero_width, c.value) ? 0 : within(double_width, c.value) ? 2 : 1;
    }
    return width;
}

namespace {

/// A command in backticks, with its blanks, is one word: it is there to be pasted.
std::size_t end_of_word(std::string_view text, std::size_t at) {
    bool quoted = false;
    for (std::size_t i = at; i < text.size(); ++i) {
        if (text[i] == '`') quoted = !quoted && text.find('`', i + 1) != text.npos;
        if (text[i] == ' ' && !quoted) return i;
    }
    return text.size();
}

}  // namespace

std::vector<std::string> wrapped(std::string_view any, std::size_t columns) {
    const std::string text = printable(any);
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = end_of_word(text, at);
        const std::string_view word = std::string_view(text).substr(at, end - at);
        at = end + 1;
        if (word.empty()) continue;
        if (!line.empty() && display_width(line) + 1 + display_width(word) > columns) {
            lines.push_back(std::move(line));
            line.clear();
        }
        if (!line.empty()) line += ' ';
        line += word;
    }
    if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
    return lines;
}

std::string shortened(const std::string& text, std::size_t columns) {
    if (display_width(text) <= columns) return text;
    std::vector<std::string> letters;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = code_point(text, at).bytes;
        letters.push_back(text.substr(at, bytes));
        at += bytes;
    }
    // The end tells more than the start: sizes and values of axes stand there.
    std::string front, back;
    std::size_t left = columns > 0 ? columns - 1 : 0, first = 0, last = letters.size();
    std::size_t front_width = 0, back_width = 0;
    while (left > 0 && first < last) {
        const bool to_front = front_width < back_width;
        const std::string& letter = to_front ? letters[first] : letters[last - 1];
        const std::size_t width = display_width(letter);
        if (width > left) break;
        left -= width;
        (to_front ? front_width : back_width) += width;
        if (to_front) {
            front += letter;
            ++first;
        } else {
            back = letter + back;
            --last;
        }
    }
    return front + "…" + back;
}

std::string indented(std::string_view text, std::size_t columns) {
    const std::string blanks(4, ' ');
    std::string out;
    for (const std::string& line : wrapped(text, columns - blanks.size()))
        out += blanks + line + '\n';
    return out;
}

std::string coloured(std::string_view text, Colour colour) {
    return fmt::format("\x1b[{}m{}\x1b[0m", colour == Colour::green ? 32 : 31, text);
}

}  // namespace assay::report
