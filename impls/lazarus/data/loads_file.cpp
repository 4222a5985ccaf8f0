#include "impls/lazarus/data/loads_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

constexpr std::string_view wanted =
    "give one line per layer, and on it the tokens of each expert as whole numbers";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

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

[[noreturn]] void fail(std::string_view name, std::size_t line, std::size_t column,
                       const std::string& what) {
    throw UserError(fmt::format("{}:{}:{}: {}", name, line, column, what));
}

bool is_fraction(std::string_view token) {
    double value = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    return error == std::errc{} && end == token.data() + token.size();
}

// Why a token that is no whole number is none, and what to do about it.
std::string why_no_load(std::string_view token, bool first_line) {
    std::string lower;
    for (char c : token.substr(0, 8)) lower += static_cast<char>(std::tolower(c));
    if (lower == "nan" || lower == "inf" || lower == "-inf" || lower == "+inf")
        return quoted(token) +
               " is not a count of tokens; leave the line out, or put in what the "
               "expert got";
    if (token.find_first_of("[]{}") != std::string_view::npos)
        return fmt::format("{} is not a number; without brackets, please: {}", quoted(token),
                           wanted);
    if (is_fraction(token))
        return quoted(token) +
               " is not an integer; loads are whole counts of tokens, so multiply shares by the "
               "tokens of a step (numpy.savetxt: fmt='%d')";
    const bool word = std::any_of(token.begin(), token.end(), [](char c) {
        return std::isalpha(static_cast<unsigned char>(c)) != 0;
    });
    return fmt::format("{} is not an integer{}; {}", quoted(token),
                       word && first_line ? " (a header, or a column of names? Leave it out)" : "",
                       wanted);
}

struct Line {
    std::size_t number = 0;  // from 1, in the file
    Loads loads;
    std::vector<std::size_t> columns;  // where each load stands, from 1
};

class LineReader {
  public:
    LineReader(std::string_view text, std::size_t number, bool first, std::string_view name)
        : text_(text), name_(name), first_(first) {
        line_.number = number;
    }

    Line read() {
        bool comma = false;  // since the last number
        for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
            if (text_[at_] == ',') {
                if (comma || line_.loads.empty()) stop(at_, "a comma without a number before it");
                comma = true;
                ++at_;
                continue;
            }
            line_.columns.push_back(at_ + 1);
            line_.loads.push_back(number());
            comma = false;
        }
        if (comma) stop(at_, "a comma without a number after it");
        return std::move(line_);
    }

  private:
    void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }

    Tokens number() {
        const std::size_t start = at_;
        while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ',') ++at_;
        const std::string_view token = text_.substr(start, at_ - start);
        Tokens value = 0;
        const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
        const bool whole = end == token.data() + token.size();
        if (whole && error == std::errc::result_out_of_range) {
            stop(start, quoted(token) +
                            (token.front() == '-' ? " is negative" : " is larger than 2^63-1"));
        }
        if (!whole || error != std::errc{}) stop(start, why_no_load(token, first_));
        if (token.front() == '-')
            stop(start, quoted(token) + " is negative; loads are counts of tokens, 0 or more");
        return value;
    }

    [[noreturn]] void stop(std::size_t at, const std::string& what) const {
        fail(name_, line_.number, at + 1, what);
    }

    std::string_view text_, name_;
    bool first_;
    std::size_t at_ = 0;
    Line line_;
};

std::vector<Line> lines_of(std::string_view text, std::string_view name) {
    std::vector<Line> lines;
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        Line line = LineReader(text.substr(at, end - at), ++number, lines.empty(), name).read();
        if (!line.loads.empty()) lines.push_back(std::move(line));
        at = end + 1;
    }
    return lines;
}

// Whether the column rises by the same step from line to line, or in ones again and again.
bool counts(const std::vector<Line>& lines, std::size_t column) {
    const auto at = [&](std::size_t i) { return lines[i].loads[column]; };
    const Tokens start = at(0);
    if (at(1) <= start) return false;
    const Tokens step = at(1) - start;
    std::size_t since = 1;  // lines since it was at its start
    for (std::size_t i = 1; i < lines.size(); ++i, ++since) {
        if (at(i) == start && since >= 2 && step == 1) since = 0;
        if (at(i) < start || (at(i) - start) % step != 0) return false;
        if (static_cast<std::size_t>((at(i) - start) / step) != since) return false;
    }
    return true;
}

// How far the lines' sums lie apart, without the column `without` if there is one.
long double spread_of_sums(const std::vector<Line>& lines, std::optional<std::size_t> without) {
    std::vector<long double> sums;
    for (const Line& line : lines) {
        long double all = 0;
        for (Tokens t : line.loads) all += static_cast<long double>(t);
        if (without) all -= static_cast<long double>(line.loads[*without]);
        sums.push_back(all);
    }
    const auto [least, most] = std::minmax_element(sums.begin(), sums.end());
    return *most - *least;
}

// Each layer routes about the same tokens, so a column with which the sums lie much closer together
// than without it holds loads, however it rises.
bool makes_sums_alike(const std::vector<Line>& lines, std::size_t column) {
    return 2 * spread_of_sums(lines, std::nullopt) < spread_of_sums(lines, column);
}

// On two lines any column that rises counts; so it must look like 0 1 or 1 2 beside real loads.
bool small_beside_loads(const std::vector<Line>& lines, std::size_t column) {
    const Tokens first = lines[0].loads[column], second = lines[1].loads[column];
    if (first > 1 || second != first + 1) return false;
    long double others = 0;
    for (const Line& line : lines)
        for (std::size_t i = 0; i < line.loads.size(); ++i)
            if (i != column) others += static_cast<long double>(line.loads[i]);
    const auto many = 2 * (lines[0].loads.size() - 1);
    return others / static_cast<long double>(many) > 8.0L * static_cast<long double>(second);
}

void refuse_counting_columns(const std::vector<Line>& lines, std::string_view name) {
    const std::size_t width = lines.front().loads.size();
    if (lines.size() < 2 || width < 2 || spread_of_sums(lines, std::nullopt) == 0) return;
    std::size_t counting = 0;
    for (std::size_t column = 0; column < width; ++column) counting += counts(lines, column);
    if (counting == width) return;
    for (const std::size_t column : {std::size_t{0}, std::size_t{1}}) {
        if (!counts(lines, column) || makes_sums_alike(lines, column)) continue;
        if (lines.size() == 2 && !small_beside_loads(lines, column)) continue;
        fail(name, lines[1].number, lines[1].columns[column],
             fmt::format("{} after {}: column {} counts the lines, so it holds layer or step "
                         "numbers, not loads; leave the columns before the loads out (cut "
                         "-d, -f{}- FILE). Should they be loads, change the order of the layers",
                         lines[1].loads[column], lines[0].loads[column], column + 1, column + 2));
    }
}

// Our own form of a log over many iterations (routing_trace.hpp): says how to cut one
// out.
void refuse_routing_trace(std::string_view text, std::string_view name) {
    if (text.substr(0, 16) != "iteration,layer,") return;
    const std::size_t row = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view iteration =
        text.substr(row, std::min(text.find(',', row), row + 20) - row);
    fail(name, 1, 1,
         fmt::format("a routing trace of many iterations; give the layers of one: grep '^{},' FILE "
                     "| cut -d, -f3- | assay plan lazarus --loads - …",
                     iteration.empty() ? "1" : iteration));
}

}  // namespace

std::vector<Loads> parse_loads(std::string_view text, std::string_view name) {
    refuse_routing_trace(text, name);
    std::vector<Line> lines = lines_of(text, name);
    if (lines.empty()) fail(name, 1, 1, fmt::format("no loads: {}", wanted));
    const bool column = std::all_of(lines.begin(), lines.end(),
                                    [](const Line& line) { return line.loads.size() == 1; });
    std::vector<Loads> layers;
    if (column) {
        layers.emplace_back();
        for (const Line& line : lines) layers.front().push_back(line.loads.front());
        return layers;
    }
    for (const Line& line : lines)
        if (line.loads.size() != lines.front().loads.size())
            fail(name, line.number, 1,
                 fmt::format("{} numbers, line {} has {}; each line is a layer, and all layers "
                             "have the same experts",
                             line.loads.size(), lines.front().number, lines.front().loads.size()));
    refuse_counting_columns(lines, name);
    for (Line& line : lines) layers.push_back(std::move(line.loads));
    return layers;
}

std::vector<Loads> read_loads(std::istream& stream, std::string_view name) {
    std::string text;
    std::array<char, 65536> block;
    while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
        text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > largest_loads_bytes)
            throw UserError(fmt::format("{}: larger than {} MiB, so no loads file; {}", name,
                                        largest_loads_bytes >> 20U, wanted));
    }
    return parse_loads(text, name);
}

}  // namespace assay::lazarus
