#include "impls/nn/text/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <new>

namespace assay::nn {

CodePoint code_point_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length == 0 || lead > 0xf4 || text.size() - at < length) return {};
    char32_t value = lead & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        value = value << 6 | (byte(i) & 0x3fu);
    }
    const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
    const bool surrogate = value >= 0xd800 && value < 0xe000;
    if (overlong || surrogate || value > 0x10ffff) return {};
    return {value, length};
}

namespace {

struct CodePointRange {
    char32_t first, last;
};

#include "impls/nn/text/unicode_ranges.inc"

template <std::size_t Count>
bool contains(const CodePointRange (&ranges)[Count], char32_t point) {
    const auto after = std::upper_bound(std::begin(ranges), std::end(ranges), point,
                                        [](char32_t p, CodePointRange r) { return p < r.first; });
    return after != std::begin(ranges) && point <= std::prev(after)->last;
}

bool is_space(char32_t point) {
    return (point >= 0x9 && point <= 0xd) || point == 0x20 || point == 0x85 || point == 0xa0 ||
           point == 0x1680 || (point >= 0x2000 && point <= 0x200a) || point == 0x2028 ||
           point == 0x2029 || point == 0x202f || point == 0x205f || point == 0x3000;
}

CharacterClass looked_up(char32_t point) {
    if (is_space(point)) return CharacterClass::space;
    if (contains(letter_ranges, point)) return CharacterClass::letter;
    if (contains(number_ranges, point)) return CharacterClass::number;
    return CharacterClass::other;
}

}  // namespace

CharacterClass character_class(char32_t point) {
    static const auto ascii = [] {
        std::array<CharacterClass, 128> classes;
        for (char32_t i = 0; i < classes.size(); ++i) classes[i] = looked_up(i);
        return classes;
    }();
    return point < ascii.size() ? ascii[point] : looked_up(point);
}

namespace {

std::string composed_utf8(std::string_view text) {
    utf8proc_uint8_t* made = nullptr;
    const auto* const given = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const auto bytes =
        utf8proc_map(given, static_cast<utf8proc_ssize_t>(text.size()), &made,
                     static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
    if (bytes < 0) throw std::bad_alloc();  // what it is given is UTF-8
    return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(bytes)};
}

}  // namespace

std::string composed_form(std::string_view text) {
    std::string composed;
    while (!text.empty()) {
        std::size_t end = 0;  // of what is UTF-8
        CodePoint point;
        while (end < text.size() && (point = code_point_at(text, end)).value != not_utf8)
            end += point.bytes;
        composed += composed_utf8(text.substr(0, end));
        text.remove_prefix(end);
        composed += text.substr(0, 1);
        text.remove_prefix(std::min<std::size_t>(text.size(), 1));
    }
    return composed;
}

namespace {

constexpr char32_t letters_end = 0x144;

bool stands_for_itself(unsigned byte) {
    return (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
}

const std::array<char32_t, 256>& letters() {
    static const auto made = [] {
        std::array<char32_t, 256> letters;
        char32_t next = 0x100;
        for (unsigned byte = 0; byte < letters.size(); ++byte)
            letters[byte] = stands_for_itself(byte) ? byte : next++;
        return letters;
    }();
    return made;
}

/// By letter: its byte, or −1.
const std::array<int, letters_end>& bytes_by_letter() {
    static const auto made = [] {
        std::array<int, letters_end> bytes;
        bytes.fill(-1);
        for (std::size_t byte = 0; byte < 256; ++byte)
            bytes[letters()[byte]] = static_cast<int>(byte);
        return bytes;
    }();
    return made;
}

}  // namespace

std::optional<std::string> from_byte_letters(std::string_view written) {
    std::string bytes;
    for (std::size_t at = 0; at < written.size();) {
        const CodePoint letter = code_point_at(written, at);
        const int byte = letter.value < letters_end ? bytes_by_letter()[letter.value] : -1;
        if (byte < 0) return std::nullopt;
        bytes += static_cast<char>(byte);
        at += letter.bytes;
    }
    return bytes;
}

std::string to_byte_letters(std::string_view bytes) {
    std::string written;
    for (const char byte : bytes) {
        const char32_t letter = letters()[static_cast<unsigned char>(byte)];
        if (letter < 0x80) {
            written += static_cast<char>(letter);
        } else {
            written += static_cast<char>(0xc0 | letter >> 6);
            written += static_cast<char>(0x80 | (letter & 0x3f));
        }
    }
    return written;
}

}  // namespace assay::nn
