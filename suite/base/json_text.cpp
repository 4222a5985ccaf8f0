#include "suite/base/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "suite/base/input_file.hpp"

namespace assay {
namespace {

using nlohmann::json;

constexpr std::size_t deepest = 64;
constexpr std::size_t longest_shown = 80;

JsonError error_at(std::string_view text, std::size_t offset, const std::string& what) {
    const std::string_view before = text.substr(0, offset);
    const auto newline = before.rfind('\n');
    return {1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
            newline == before.npos ? before.size() + 1 : before.size() - newline, what};
}

/// Where that begins which the parser has taken last, a key or a bracket.
std::size_t last_taken(std::string_view text, std::size_t taken) {
    if (taken == 0) return 0;
    const auto quote = text[taken - 1] == '"' && taken > 1 ? text.rfind('"', taken - 2) : text.npos;
    return quote == text.npos ? taken - 1 : quote;
}

/// Where a number begins, of which the parser has taken the end.
std::size_t number_before(std::string_view text, std::size_t taken) {
    const auto of_number = [&](std::size_t at) {
        return std::string_view("+-.0123456789eE").find(text[at]) != std::string_view::npos;
    };
    std::size_t at = std::min(taken, text.size());
    while (at > 0 && !of_number(at - 1)) --at;
    while (at > 0 && of_number(at - 1)) --at;
    return at;
}

/// Refuses a key that the object has, and nesting so deep that handling the value could exhaust
/// the stack.
class Strict {
  public:
    bool operator()(int, json::parse_event_t event, json& parsed) {
        using Event = json::parse_event_t;
        if (event == Event::object_start || event == Event::array_start) {
            if (open_.size() == deepest) throw JsonRefusal{"not valid JSON: nested too deeply"};
            open_.emplace_back();
        } else if (event == Event::object_end || event == Event::array_end) {
            open_.pop_back();
        } else if (event == Event::key &&
                   !open_.back().insert(parsed.get_ref<const std::string&>()).second) {
            const std::string key = parsed.dump(-1, ' ', true, json::error_handler_t::replace);
            throw JsonRefusal{fmt::format(
                "the key {} is given twice",
                key.size() > longest_shown ? key.substr(0, longest_shown) + "…\"" : key)};
        }
        return true;
    }

  private:
    std::vector<std::unordered_set<std::string>> open_;  // keys of the objects (and arrays) around
};

}  // namespace

json parse_json(std::string_view text) { return parse_json(text, Strict()); }

json parse_json(std::string_view text, const json::parser_callback_t& look) {
    text = without_byte_order_mark(text);
    std::size_t taken = 0;
    try {
        return json::parse(CountingIterator(text.data(), &taken),
                           CountingIterator(text.data() + text.size(), &taken), look);
    } catch (const JsonRefusal& refusal) {
        throw error_at(text, last_taken(text, taken), refusal.why);
    } catch (const json::parse_error& error) {
        throw error_at(text, error.byte > 0 ? error.byte - 1 : 0,
                       "not valid JSON: " + json_reason(error));
    } catch (const json::exception& error) {
        throw error_at(text, number_before(text, taken), "not valid JSON: " + json_reason(error));
    }
}

std::string json_reason(const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …"
    std::string_view says = error.what();
    const auto cut_behind = [&](std::string_view begins, std::string_view ends) {
        if (const auto end = says.find(ends); says.starts_with(begins) && end != says.npos)
            says.remove_prefix(end + ends.size());
    };
    cut_behind("[json.exception.", "] ");
    cut_behind("parse error", ": ");
    constexpr std::string_view overflow = "number overflow parsing '";
    if (says.starts_with(overflow))
        return fmt::format("the number {} is too large",
                           says.substr(overflow.size(), says.size() - overflow.size() - 1));
    // What was read last may be as long as the text.
    constexpr std::string_view last = "last read: '";
    const auto read = says.find(last);
    if (read == says.npos || says.size() - read - last.size() <= longest_shown)
        return std::string(says);
    std::size_t from = says.size() - longest_shown;
    while (from < says.size() && (static_cast<unsigned char>(says[from]) & 0xc0U) == 0x80U) ++from;
    return fmt::format("{}…{}", says.substr(0, read + last.size()), says.substr(from));
}

}  // namespace assay
