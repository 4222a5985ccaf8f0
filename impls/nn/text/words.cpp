#include "impls/nn/text/vocabulary.hpp"

#include <array>
#include <string>

#include "impls/nn/text/unicode.hpp"

namespace assay::nn {

namespace {

/// A text whose characters are asked for their class. Where numbers stand alone, the text ends
/// before the first of them.
class Characters {
  public:
    Characters(std::string_view text, bool end_at_numbers)
        : text_(text), end_at_numbers_(end_at_numbers) {}

    struct Character {
        CharacterClass is;
        std::size_t bytes;  ///< 0: the end of the text
    };

    Character at(std::size_t i) const {
        constexpr Character end{CharacterClass::other, 0};
        if (i >= text_.size()) return end;
        const CodePoint point = code_point_at(text_, i);
        const CharacterClass is = character_class(point.value);
        if (end_at_numbers_ && is == CharacterClass::number) return end;
        return {is, point.bytes};
    }

  private:
    std::string_view text_;
    bool end_at_numbers_;
};

/// Bytes of 's, 't, 'm, 'd, 're, 've or 'll at the beginning; 0: none of them.
std::size_t contraction(std::string_view text) {
    constexpr std::array<std::string_view, 7> endings{"s", "t", "re", "ve", "m", "ll", "d"};
    if (text.front() != '\'') return 0;
    for (const std::string_view ending : endings)
        if (text.substr(1).starts_with(ending)) return 1 + ending.size();
    return 0;
}

/// The same in either case, as Unicode has it: the long s is an s too.
std::size_t contraction_in_either_case(std::string_view text) {
    if (text.substr(0, 3) == "'\u017f") return 3;
    std::string lower(text.substr(0, 3));
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return contraction(lower);
}

/// Where a run of characters of a class ends that begins at `at`; it has at most `limit` of them.
std::size_t end_of_run(const Characters& characters, std::size_t at, CharacterClass is,
                       std::size_t limit = std::string_view::npos) {
    for (; limit > 0; --limit) {
        const auto next = characters.at(at);
        if (next.bytes == 0 || next.is != is) break;
        at += next.bytes;
    }
    return at;
}

/// White space before something else leaves its last character to the next word.
std::size_t white_space_word(const Characters& characters) {
    std::size_t end = 0, before_last = 0;
    auto next = characters.at(0);
    for (; next.bytes != 0 && next.is == CharacterClass::space; next = characters.at(end)) {
        before_last = end;
        end += next.bytes;
    }
    return next.bytes != 0 && before_last > 0 ? before_last : end;
}

bool is_line_end(char c) { return c == '\r' || c == '\n'; }

std::size_t gpt2_word(std::string_view text, const Characters& characters) {
    if (const std::size_t bytes = contraction(text)) return bytes;
    if (text.front() == ' ') {
        const auto second = characters.at(1);
        if (second.bytes != 0 && second.is != CharacterClass::space)
            return end_of_run(characters, 1, second.is);
    }
    const CharacterClass is = characters.at(0).is;
    return is == CharacterClass::space ? white_space_word(characters)
                                       : end_of_run(characters, 0, is);
}

/// `numbers`: at most so many in a word.
std::size_t llama3_word(std::string_view text, const Characters& characters, std::size_t numbers) {
    using enum CharacterClass;
    if (const std::size_t bytes = contraction_in_either_case(text)) return bytes;
    const auto first = characters.at(0);
    if (first.is == number) return end_of_run(characters, 0, number, numbers);
    const std::size_t letters = first.is == letter || is_line_end(text.front()) ? 0 : first.bytes;
    if (const std::size_t end = end_of_run(characters, letters, letter); end > letters) return end;

    const std::size_t others = text.front() == ' ' ? 1 : 0;
    if (std::size_t end = end_of_run(characters, others, other); end > others) {
        while (end < text.size() && is_line_end(text[end])) ++end;
        return end;
    }
    const std::size_t space_end = end_of_run(characters, 0, space);
    const std::size_t line_end = text.substr(0, space_end).find_last_of("\r\n");
    return line_end == std::string_view::npos ? white_space_word(characters) : line_end + 1;
}

}  // namespace

std::size_t first_word(WordRule rule, std::string_view text) {
    switch (rule) {
        case WordRule::whole:
            return text.size();
        case WordRule::gpt2:
            return gpt2_word(text, {text, false});
        case WordRule::smollm: {
            const CodePoint first = code_point_at(text, 0);
            if (character_class(first.value) == CharacterClass::number) return first.bytes;
            return gpt2_word(text, {text, true});
        }
        case WordRule::llama3:
            return llama3_word(text, {text, false}, 3);
        case WordRule::qwen2:
            return llama3_word(text, {text, false}, 1);
    }
    return text.size();
}

}  // namespace assay::nn
