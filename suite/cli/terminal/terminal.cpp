#include "suite/cli/terminal/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

/// Of the terminal behind standard output, else of $COLUMNS.
std::optional<std::size_t> told_columns() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char* const told = std::getenv("COLUMNS");
    if (told == nullptr) return std::nullopt;
    const std::string_view text(told);
    std::size_t columns = 0;
    std::from_chars(text.data(), text.data() + text.size(), columns);
    return columns > 0 ? std::optional(columns) : std::nullopt;
}

}  // namespace

bool terminal_is_capable() {
    const char* const terminal = std::getenv("TERM");
    return terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

bool colours_wanted() {
    const char* no_color = std::getenv("NO_COLOR");
    if (no_color != nullptr && *no_color != '\0') return false;
    return terminal_is_capable() && ::isatty(STDOUT_FILENO) != 0;
}

std::size_t drawing_width(std::size_t otherwise) {
    return std::clamp<std::size_t>(told_columns().value_or(otherwise), 40, 200);
}

std::size_t text_columns() {
    constexpr std::size_t least = 20;
    if (const auto columns = told_columns()) return std::max(*columns, least);
    // A terminal that does not tell its size, as over a serial line.
    return ::isatty(STDOUT_FILENO) != 0 ? 80 : no_limit;
}

std::size_t prose_columns() {
    constexpr std::size_t usual = 100;
    const std::size_t columns = text_columns();
    return columns == no_limit ? usual : columns;
}

std::string hanging(std::string_view head, std::string_view any, std::size_t columns) {
    constexpr std::size_t short_indent = 4;
    const std::string text = report::printable(any);
    std::string out = report::printable(head);
    std::size_t indent = report::display_width(out);
    if (columns == no_limit || indent + report::display_width(text) <= columns)
        return out + text + '\n';
    const bool below = indent > columns / 2;  // what is left beside the head would be a thread
    if (below) {
        indent = short_indent;
        out.erase(out.find_last_not_of(' ') + 1);
        out += '\n' + std::string(indent, ' ');
    }
    const auto pieces = report::wrapped(text, columns - std::min(columns - 1, indent));
    for (const std::string& piece : pieces)
        out += (&piece == pieces.data() ? "" : std::string(indent, ' ')) + piece + '\n';
    return out;
}

std::string fitted_lines(std::string_view text, std::size_t columns) {
    constexpr std::size_t indent = 4, longest_head = 12;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string whole = report::printable(text.substr(at, end - at));
        const std::string_view line = whole;
        at = end + 1;
        if (columns == no_limit || report::display_width(line) <= columns) {
            out += whole + '\n';
            continue;
        }
        const std::size_t second = line.find_first_not_of(' ', line.find("  "));
        if (second <= longest_head) {
            out += hanging(line.substr(0, second), line.substr(second), columns);
            continue;
        }
        const auto pieces = report::wrapped(line, columns - std::min(columns - 1, indent));
        for (const std::string& piece : pieces)
            out += (&piece == pieces.data() ? "" : std::string(indent, ' ')) + piece + '\n';
    }
    return out;
}

}  // namespace assay::cli
