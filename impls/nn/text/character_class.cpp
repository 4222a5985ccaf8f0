#include "impls/nn/text/character_class.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace assay::nn {

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

}  // namespace assay::nn
