#include "impls/nn/text/byte_letters.hpp"

#include <array>

#include "impls/nn/text/utf8.hpp"

namespace assay::nn {

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
