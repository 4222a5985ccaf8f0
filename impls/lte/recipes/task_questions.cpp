#include "impls/lte/recipes/task_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"

namespace assay::lte {
namespace {

std::string content_of(const std::filesystem::path& path) {
    auto text = read_text_file(path);
    if (!text) throw UserError(path.string() + ": cannot be read; give a text file");
    return std::move(*text);
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

struct Form {
    std::string label = "label", prompt;
    std::map<std::string, std::size_t> places;  ///< of the answers, by the label's value
    std::vector<std::string> answers, columns;
};

Form read_form(const std::filesystem::path& path) {
    Form form;
    const std::string text = content_of(path);
    std::size_t at = 0;
    for (bool in_head = true; in_head;) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string::npos)
            throw UserError(path.string() + ": no line of three dashes before the prompt");
        const std::string line = trimmed(text.substr(at, end - at));
        at = end + 1;
        in_head = line != "---";
        if (!in_head || line.empty()) continue;
        const std::size_t colon = line.find(':');
        const std::string key = line.substr(0, colon);
        const std::string value = colon == std::string::npos ? "" : trimmed(line.substr(colon + 1));
        if (key == "label") {
            form.label = value;
        } else if (key == "columns") {
            for (const auto& name : parts_of(value, ' '))
                if (!name.empty()) form.columns.push_back(name);
        } else if (key == "answers") {
            for (const auto& pair : parts_of(value, '|')) {
                const std::size_t equals = pair.find('=');
                if (equals == std::string::npos)
                    throw UserError(fmt::format("{}: answers are written LABEL = TEXT, not \"{}\"",
                                                path.string(), trimmed(pair)));
                form.places[trimmed(pair.substr(0, equals))] = form.answers.size();
                form.answers.push_back(" " + trimmed(pair.substr(equals + 1)));
            }
        } else {
            throw UserError(fmt::format("{}: \"{}\" is none of label, answers and columns",
                                        path.string(), key));
        }
    }
    form.prompt = text.substr(at);
    while (!form.prompt.empty() && (form.prompt.back() == '\n' || form.prompt.back() == ' '))
        form.prompt.pop_back();
    if (form.answers.size() < 2) throw UserError(path.string() + ": fewer than two answers");
    if (form.prompt.empty()) throw UserError(path.string() + ": no prompt");
    return form;
}

/// RFC 4180: fields may be in quotes, in which quotes are doubled and lines may end.
std::vector<std::vector<std::string>> comma_separated(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> row(1);
    bool quoted = false;
    const auto end_row = [&] {
        if (row.size() > 1 || !row[0].empty()) rows.push_back(std::move(row));
        row.assign(1, "");
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
            row.back() += text[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            row.emplace_back();
        else if (c == '\n' && !quoted)
            end_row();
        else if (c != '\r')
            row.back() += c;
    }
    end_row();
    return rows;
}

std::vector<std::vector<std::string>> tab_separated(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    for (std::string line : parts_of(text, '\n')) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (!line.empty()) rows.push_back(parts_of(line, '\t'));
    }
    return rows;
}

using Row = std::map<std::string, std::string>;  // by column

std::string filled(const std::string& form, const Row& row, const std::string& where) {
    std::string text;
    for (std::size_t at = 0; at < form.size();) {
        const std::size_t open = std::min(form.find('{', at), form.size());
        text += form.substr(at, open - at);
        if (open == form.size()) break;
        const std::size_t close = form.find('}', open);
        const std::string name =
            close == std::string::npos ? "" : form.substr(open + 1, close - open - 1);
        const auto found = row.find(name);
        if (found == row.end())
            throw UserError(
                fmt::format("{}: the prompt asks for {{{}}}, which is no column", where, name));
        text += found->second;
        at = close + 1;
    }
    return text;
}

}  // namespace

std::vector<Question> read_questions(const std::filesystem::path& data,
                                     const std::filesystem::path& form_file) {
    const Form form = read_form(form_file);
    const bool mmlu = data.extension() == ".csv";
    auto rows = mmlu ? comma_separated(content_of(data)) : tab_separated(content_of(data));
    std::vector<std::string> columns = form.columns;
    std::size_t first = 0;
    if (columns.empty() && mmlu) columns = {"question", "A", "B", "C", "D", "answer"};
    if (columns.empty() && !rows.empty()) columns = rows[first++];

    std::vector<Question> questions;
    for (std::size_t i = first; i < rows.size(); ++i) {
        const std::string where = fmt::format("{}, row {}", data.string(), i + 1);
        if (rows[i].size() < columns.size())
            throw UserError(
                fmt::format("{}: {} columns instead of {}", where, rows[i].size(), columns.size()));
        Row row;
        for (std::size_t c = 0; c < columns.size(); ++c) row[columns[c]] = rows[i][c];
        const auto label = row.find(form.label);
        if (label == row.end())
            throw UserError(fmt::format("{}: no column \"{}\"", data.string(), form.label));
        const auto right = form.places.find(trimmed(label->second));
        if (right == form.places.end())
            throw UserError(fmt::format("{}: \"{}\" has no answer in {}", where, label->second,
                                        form_file.string()));
        questions.push_back({filled(form.prompt, row, where), form.answers, right->second});
    }
    if (questions.empty()) throw UserError(data.string() + ": no questions");
    return questions;
}

}  // namespace assay::lte
