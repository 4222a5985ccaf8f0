#include "impls/lazarus/policy/loads.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <istream>
#include <string>
#include <system_error>

#include "suite/experiment/error.hpp"

namespace assay::lazarus {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

// A token for a message: short, printable.
std::string quoted(std::string_view token) {
    constexpr std::size_t longest = 24;
    std::string text;
    for (char c : token.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        text += byte >= 0x20 && byte < 0x7f ? c : '?';
    }
    return '"' + text + (token.size() > longest ? "…\"" : "\"");
}

class Reader {
  public:
    Reader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

    Loads read() {
        Loads loads;
        bool comma = false;  // since the last number
        for (skip_space(); at_ < text_.size(); skip_space()) {
            if (text_[at_] == ',') {
                if (comma || loads.empty()) fail(at_, "a comma without a number before it");
                comma = true;
                ++at_;
                continue;
            }
            loads.push_back(number());
            comma = false;
        }
        if (loads.empty()) fail(at_, "no loads: expected one non-negative integer per expert");
        if (comma) fail(at_, "a comma without a number after it");
        return loads;
    }

  private:
    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    Tokens number() {
        const std::size_t start = at_;
        while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != ',') ++at_;
        const std::string_view token = text_.substr(start, at_ - start);
        Tokens value = 0;
        const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
        const bool whole = end == token.data() + token.size();
        if (whole && error == std::errc::result_out_of_range) {
            fail(start, quoted(token) +
                            (token.front() == '-' ? " is negative" : " is larger than 2^63-1"));
        }
        if (!whole || error != std::errc{}) {
            fail(start, quoted(token) +
                            " is not an integer; expected one non-negative integer per expert");
        }
        if (token.front() == '-')
            fail(start, quoted(token) + " is negative; loads are counts of tokens, 0 or more");
        return value;
    }

    [[noreturn]] void fail(std::size_t at, const std::string& what) const {
        std::size_t line = 1, column = 1;
        for (char c : text_.substr(0, at)) {
            column = c == '\n' ? 1 : column + 1;
            if (c == '\n') ++line;
        }
        throw UserError(fmt::format("{}:{}:{}: {}", name_, line, column, what));
    }

    std::string_view text_, name_;
    std::size_t at_ = 0;
};

}  // namespace

Loads parse_loads(std::string_view text, std::string_view name) {
    return Reader(text, name).read();
}

Loads read_loads(std::istream& stream, std::string_view name) {
    std::string text;
    std::array<char, 65536> block;
    while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
        text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > largest_loads_bytes)
            throw UserError(fmt::format(
                "{}: larger than {} MiB, so no loads file; give one non-negative integer per "
                "expert",
                name, largest_loads_bytes >> 20U));
    }
    return parse_loads(text, name);
}

}  // namespace assay::lazarus
