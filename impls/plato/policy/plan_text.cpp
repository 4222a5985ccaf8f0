#include "impls/plato/policy/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace assay::plato {
namespace {

constexpr std::string_view around = " *";  // what belongs to no title, key or value

std::string_view trimmed(std::string_view text, std::string_view of = around) {
    const auto first = text.find_first_not_of(of);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(of) - first + 1);
}

/// U+FF01 to U+FF5E as their ASCII characters; tab, U+00A0 and U+3000 as blanks.
std::string in_ascii(std::string_view text) {
    std::string read;
    const auto at = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const unsigned low = at(i + 2) - 0x80;
        const unsigned wide = (at(i + 1) - 0xBC) * 0x40 + low;  // U+FF00 is 0
        if (at(i) == 0xEF && (at(i + 1) == 0xBC || at(i + 1) == 0xBD) && low < 0x40 && wide > 0 &&
            wide < 0x5F) {
            read += static_cast<char>(0x20 + wide);
            i += 2;
        } else if (at(i) == 0xE3 && at(i + 1) == 0x80 && at(i + 2) == 0x80) {
            read += ' ';
            i += 2;
        } else if (at(i) == 0xC2 && at(i + 1) == 0xA0) {
            read += ' ';
            i += 1;
        } else {
            read += text[i] == '\t' ? ' ' : text[i];
        }
    }
    return read;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool same_word(std::string_view text, std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == b;
    });
}

/// Takes what it knows from the front of a text.
struct Front {
    std::string_view rest;

    void pass_over(std::string_view characters) {
        rest.remove_prefix(std::min(rest.find_first_not_of(characters), rest.size()));
    }
    bool take(std::string_view text) {
        if (!rest.starts_with(text)) return false;
        rest.remove_prefix(text.size());
        return true;
    }
    /// Letters of any case; the word is in small ones and is not the beginning of a longer one.
    bool take_word(std::string_view word) {
        if (!same_word(rest.substr(0, word.size()), word)) return false;
        if (rest.size() > word.size() && is_letter(rest[word.size()])) return false;
        rest.remove_prefix(word.size());
        return true;
    }
    bool take_dash() { return take("-") || take("–") || take("—"); }
    /// Digits; of so many that no plan has as many nodes, the largest number that is kept.
    std::optional<std::int64_t> take_digits() {
        constexpr std::int64_t most = 1'000'000'000'000'000;
        if (rest.empty() || !is_digit(rest.front())) return {};
        std::int64_t value = 0;
        for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1))
            value = std::min(most, value * 10 + (rest.front() - '0'));
        return value;
    }
    /// Perhaps behind # or Step. Nothing is taken where it is no number.
    std::optional<std::int64_t> take_number() {
        const std::string_view before = rest;
        if (take("#") || take_word("step")) pass_over(" ");
        const auto number = take_digits();
        if (!number) rest = before;
        return number;
    }
};

struct Range {
    std::int64_t first, last;
};

/// The ranges that a list names, a number being one of itself; nullopt: it is no list.
std::optional<std::vector<Range>> listed(std::string_view list) {
    std::vector<Range> ranges;
    bool none = false;
    Front front{list};
    for (;;) {
        front.pass_over(" ,;&*[]()");
        if (front.rest.empty()) break;
        if (front.take_word("and")) continue;
        if (const auto first = front.take_number()) {
            const std::string_view behind = front.rest;
            front.pass_over(" ");
            std::optional<std::int64_t> last;
            if (front.take_dash()) {
                front.pass_over(" ");
                last = front.take_number();
                if (!last || *last < *first) return {};
            } else {
                front.rest = behind;
            }
            ranges.push_back({*first, last.value_or(*first)});
        } else if (!none &&
                   (front.take_dash() || front.take_word("none") || front.take_word("n/a"))) {
            none = true;
        } else {
            return {};
        }
    }
    if (none && !ranges.empty()) return {};
    return ranges;
}

/// As a warning quotes it: what is long is cut, between characters.
std::string quoted(std::string_view text) {
    constexpr std::size_t most = 60;
    if (text.size() <= most) return fmt::format("\"{}\"", text);
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return fmt::format("\"{}…\"", text.substr(0, end));
}

std::string_view without_end(std::string_view line) {
    return line.substr(0, line.find_last_not_of(around) + 1);
}

/// A line without what may stand before and behind its text.
std::string_view text_of(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" -*#"), line.size()));
    line = without_end(line);
    return line.ends_with('.') ? without_end(line.substr(0, line.size() - 1)) : line;
}

/// What bars cut it into; of a line without a bar, one part.
std::vector<std::string_view> parts_of(std::string_view line) {
    std::vector<std::string_view> parts;
    for (std::size_t bar = 0; bar != std::string_view::npos;) {
        bar = line.find('|');
        parts.push_back(trimmed(line.substr(0, bar)));
        if (bar != std::string_view::npos) line.remove_prefix(bar + 1);
    }
    return parts;
}

/// The number that a node's first part begins with, and the title behind it; without such a
/// beginning all of it is the title.
std::pair<std::optional<std::int64_t>, std::string_view> number_and_title(std::string_view part) {
    Front front{part};
    if (front.take_word("step")) front.pass_over(around);
    const auto number = front.take_digits();
    front.pass_over(around);
    if (number && (front.take(".") || front.take(")") || front.take(":")))
        return {number, trimmed(front.rest)};
    return {std::nullopt, part};
}

}  // namespace

void PlanParser::feed(std::string_view text) {
    while (!ended_ && !text.empty()) {
        const auto end = text.find('\n');
        line_ += text.substr(0, end);
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
        take_line(std::exchange(line_, {}));
    }
}

void PlanParser::finish() {
    if (ended_) return;
    const std::string last = std::exchange(line_, {});
    if (!last.empty()) take_line(last);
    truncated_ = !last.empty() && !ended_;
    ended_ = true;
}

void PlanParser::drop_unless_before(std::int64_t number, std::int64_t own) {
    if (std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end()) return;
    dropped_.push_back(fmt::format("dropped: line {}: node {} after {}: {}", line_number_, own,
                                   number,
                                   number == own ? std::string("the node itself")
                                                 : fmt::format("no node {} before it", number)));
}

void PlanParser::take_line(std::string_view written) {
    if (++line_number_ == 1 && written.starts_with("\xef\xbb\xbf")) written.remove_prefix(3);
    if (written.ends_with('\r')) written.remove_suffix(1);
    const std::string in_plain = in_ascii(written);
    const std::string_view line = text_of(in_plain);
    if (line.empty()) return;
    if (same_word(line, "end")) {
        ended_ = true;
        return;
    }

    const auto warn = [&](const std::string& what) {
        warnings_.push_back(fmt::format("warning: line {}: {}", line_number_, what));
    };
    const std::vector<std::string_view> parts = parts_of(line);
    const auto [number, title] = number_and_title(parts.front());
    if (title.empty() || parts.size() == 1)
        return warn(quoted(line) + " is no line of a plan: passed over");
    if (nodes_.size() == most_nodes) {
        ++dropped_nodes_;
        return;
    }

    std::vector<std::string> remarks;
    const std::int64_t expected = numbers_.empty() ? 1 : numbers_.back() + 1;
    const std::int64_t own = number.value_or(expected);
    if (!number) remarks.emplace_back("it has no number");
    if (own != expected) remarks.push_back(fmt::format("the number to come was {}", expected));
    PlannedNode node{.title = std::string(title), .dependencies = {}, .difficulty = {}};
    std::optional<std::string_view> list;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto colon = parts[i].find(':');
        const auto key = trimmed(parts[i].substr(0, colon));
        const auto value = colon == std::string_view::npos ? std::string_view()
                                                           : trimmed(parts[i].substr(colon + 1));
        if (colon != std::string_view::npos && same_word(key, "deps") && !list)
            list = value;
        else if (same_word(key, "d") && !node.difficulty && value.size() == 1 && value[0] >= '1' &&
                 value[0] <= '5')
            node.difficulty = value[0] - '0';
        else
            remarks.push_back(quoted(parts[i]) + " is passed over");
    }
    if (const auto ranges = list ? listed(*list) : std::nullopt) {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (std::any_of(ranges->begin(), ranges->end(), [&](const Range& range) {
                    return range.first <= numbers_[i] && numbers_[i] <= range.last;
                }))
                node.dependencies.push_back(static_cast<int>(i) + 1);
        for (const Range& range : *ranges) {
            drop_unless_before(range.first, own);
            if (range.last != range.first) drop_unless_before(range.last, own);
        }
    } else {
        remarks.push_back((list ? quoted(*list) + " is no list" : std::string("it has no deps")) +
                          ": after all before it");
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            node.dependencies.push_back(static_cast<int>(i) + 1);
    }
    if (!remarks.empty()) warn(fmt::format("node {}: {}", own, fmt::join(remarks, "; ")));
    nodes_.push_back(std::move(node));
    numbers_.push_back(own);
}

}  // namespace assay::plato
