#include "suite/cli/terminal/help_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

/// What --help keeps to where nobody tells a width.
constexpr std::size_t usual_columns = 100;

std::vector<std::string> lines_of_help(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

bool is_indented(const std::string& line) { return !line.empty() && line[0] == ' '; }

/// Sentences of several lines as one, so that they can be broken elsewhere.
std::string rejoined(const std::string& text, std::size_t columns) {
    std::string out, sentence;
    const auto flush = [&] {
        if (!sentence.empty()) out += hanging("", sentence, columns);
        sentence.clear();
    };
    for (const std::string& line : lines_of_help(text)) {
        if (line.empty()) {
            flush();
            out += '\n';
        } else {
            sentence += (sentence.empty() ? "" : " ") + line;
        }
    }
    flush();
    return out;
}

/// "  name   what it is" becomes its two columns; a line of one column hangs as far as it is in.
std::string list_line(const std::string& line, std::size_t columns) {
    const std::size_t begin = line.find_first_not_of(' ');
    const std::size_t blanks = line.find("  ", begin);
    const std::size_t second =
        blanks == std::string::npos ? begin : line.find_first_not_of(' ', blanks);
    return hanging(line.substr(0, second), line.substr(second), columns);
}

std::string example_line(const std::string& line, std::size_t columns) {
    const std::size_t comment = line.find("  # ");
    if (report::display_width(line) <= columns || comment == std::string::npos) return line + '\n';
    const std::size_t end = line.find_last_not_of(' ', comment);
    return line.substr(0, end + 1) + '\n' + hanging("      # ", line.substr(comment + 4), columns);
}

}  // namespace

std::string fitted_footer(const std::string& footer, std::size_t columns) {
    const std::vector<std::string> lines = lines_of_help(footer);
    const bool fits = std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return report::display_width(line) <= columns;
    });
    if (fits) return footer + '\n';
    std::string out, sentences;
    const auto flush = [&] {
        out += rejoined(sentences, columns);
        sentences.clear();
    };
    bool examples = false;
    for (const std::string& line : lines) {
        const bool heads_examples = line == "Examples:" || line == "Example:";
        if (!is_indented(line) && !heads_examples) {
            examples = false;
            if (line.starts_with("Exit code")) flush();
            sentences += line + '\n';
            continue;
        }
        if (!examples && !heads_examples && sentences.starts_with("Exit code")) {
            sentences += line.substr(line.find_first_not_of(' ')) + '\n';  // it goes on
            continue;
        }
        flush();
        examples = examples || heads_examples;
        out += heads_examples ? line + '\n'
               : examples     ? example_line(line, columns)
                              : list_line(line, columns);
    }
    flush();
    return out;
}

HelpFormat::HelpFormat(std::size_t columns)
    : columns_(columns == no_limit ? usual_columns : columns) {
    constexpr std::size_t roomy = 80;
    if (columns_ < roomy) column_width(std::max<std::size_t>(columns_ * 3 / 8, 12));
}

std::string HelpFormat::make_description(const CLI::App* app) const {
    return rejoined(app->get_description(), columns_);
}

std::string HelpFormat::row(const std::string& name, const std::string& says) const {
    const std::size_t column = get_column_width();
    std::string out = "  " + name;
    if (says.empty()) return out + '\n';
    if (report::display_width(out) + 1 > column)
        out += '\n' + std::string(column, ' ');
    else
        out += std::string(column - report::display_width(out), ' ');
    std::string flat = says;
    std::replace(flat.begin(), flat.end(), '\n', ' ');
    const auto pieces = report::wrapped(flat, columns_ - std::min(columns_ - 1, column));
    for (const std::string& piece : pieces)
        out += (&piece == pieces.data() ? "" : std::string(column, ' ')) + piece + '\n';
    return out;
}

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
    return row(make_option_name(option, is_positional) + make_option_opts(option),
               make_option_desc(option));
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
    std::string text = CLI::Formatter::make_option_opts(option);
    for (const auto& others : {option->get_needs(), option->get_excludes()}) {
        std::vector<std::string> names;
        for (const CLI::Option* other : others) names.push_back(other->get_name());
        const std::string by_address = fmt::format(": {}", fmt::join(names, " "));
        std::sort(names.begin(), names.end());
        if (const std::size_t at = text.find(by_address); at != std::string::npos && !names.empty())
            text.replace(at, by_address.size(), fmt::format(": {}", fmt::join(names, " ")));
    }
    return text;
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
    return row(command->get_name(), command->get_description());
}

std::string HelpFormat::make_footer(const CLI::App* app) const {
    const std::string footer = app->get_footer();
    return footer.empty() ? "" : fitted_footer(footer, columns_);
}

}  // namespace assay::cli
