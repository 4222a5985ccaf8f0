// JSON that other programs and people wrote: what is wrong with a text that is none, and where.
#pragma once

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay {

/// `what()` says what is wrong: "not valid JSON: …", or that a key is given twice.
struct JsonError : std::runtime_error {
    JsonError(std::size_t line, std::size_t column, const std::string& what)
        : std::runtime_error(what), line(line), column(column) {}
    std::size_t line, column;  ///< from 1, the column in bytes; of the text without its mark
};

/// A value whose objects give each key once and that is nested at most 64 deep; a byte order mark
/// before it is passed over. JsonError.
nlohmann::json parse_json(std::string_view text);

/// The same with one's own rules instead of these two. `look` throws JsonRefusal for what it does
/// not want, and parse_json() adds the place.
struct JsonRefusal {
    std::string why;
};
nlohmann::json parse_json(std::string_view text, const nlohmann::json::parser_callback_t& look);

/// What the library's error says, without its code and place.
std::string json_reason(const nlohmann::json::exception&);

/// Walks a text and tells how much of it a parser has taken.
class CountingIterator {
  public:
    using difference_type = std::ptrdiff_t;
    using value_type = char;
    using pointer = const char*;
    using reference = const char&;
    using iterator_category = std::input_iterator_tag;

    CountingIterator(const char* at, std::size_t* taken) : at_(at), taken_(taken) {}
    const char& operator*() const { return *at_; }
    CountingIterator& operator++() {
        ++at_;
        ++*taken_;
        return *this;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

  private:
    const char* at_;
    std::size_t* taken_;
};

}  // namespace assay
