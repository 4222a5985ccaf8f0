#include "impls/lazarus/data/loads_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <istream>
#include <string>
#include <system_error>
#include <utility>

#include "impls/lazarus/data/index_columns.hpp"
#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"

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

// What takes the first `columns` columns off the file, as it is separated.
std::string without_columns(std::string_view text, const Line& line, std::size_t columns,
                            std::string_view name) {
    const std::string file = name == standard_input ? "FILE" : shell_quoted(std::string(name));
    const std::size_t begin = text.find_first_not_of("\r\n\v\f \t");
    const std::string_view first = text.substr(begin, text.find('\n', begin) - begin);
    const auto commas = static_cast<std::size_t>(std::count(first.begin(), first.end(), ','));
    const auto tabs = static_cast<std::size_t>(std::count(first.begin(), first.end(), '\t'));
    if (commas + 1 == line.loads.size()) return fmt::format("cut -d, -f{}- {}", columns + 1, file);
    if (tabs + 1 == line.loads.size()) return fmt::format("cut -f{}- {}", columns + 1, file);
    const std::string awk = fmt::format("awk '{{{} = \"\"}} 1'", columns == 1 ? "$1" : "$1 = $2");
    return commas == 0 ? awk + ' ' + file : fmt::format("tr , ' ' <{} | {}", file, awk);
}

void judge_first_columns(std::string_view text, const std::vector<Line>& lines,
                         std::string_view name, std::vector<std::string>* doubts) {
    if (lines.size() < 2) return;
    std::vector<Loads> loads;
    for (const Line& line : lines) loads.push_back(line.loads);
    for (const std::size_t column : {std::size_t{0}, std::size_t{1}}) {
        if (column >= loads.front().size()) break;
        const ColumnKind kind = kind_of_column(loads, column);
        const std::string mend = '`' + without_columns(text, lines.front(), column + 1, name) +
                                 " | assay plan lazarus --loads - …`";
        if (kind == ColumnKind::index)
            fail(name, lines[1].number, lines[1].columns[column],
                 fmt::format("{} after {}: column {} counts the lines, so it holds layer or step "
                             "numbers, not loads; leave out what stands before the loads: {}. "
                             "Should they be loads, change the order of the layers",
                             loads[1][column], loads[0][column], column + 1, mend));
        if (kind == ColumnKind::doubtful && column == 0 && doubts != nullptr)
            doubts->push_back(
                fmt::format("{}: column 1 ({}, {}, …) is planned for as an expert; "
                            "should it hold layer or step numbers: {}",
                            name, loads[0][0], loads[1][0], mend));
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

std::vector<Loads> parse_loads(std::string_view text, std::string_view name,
                               std::vector<std::string>* doubts) {
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
    judge_first_columns(text, lines, name, doubts);
    for (Line& line : lines) layers.push_back(std::move(line.loads));
    return layers;
}

std::vector<Loads> read_loads(std::istream& stream, std::string_view name,
                              std::vector<std::string>* doubts) {
    std::string text;
    std::array<char, 65536> block;
    while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
        text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > largest_loads_bytes)
            throw UserError(fmt::format("{}: larger than {} MiB, so no loads file; {}", name,
                                        largest_loads_bytes >> 20U, wanted));
    }
    return parse_loads(text, name, doubts);
}

}  // namespace assay::lazarus
