#include "suite/import_export/tools/tool_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/base/json_text.hpp"

namespace assay {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// NaN and the infinities: a counter of zeros has the coefficient of variation NaN, in the midst of
/// a file that is good else. Each becomes an array of one number, `code`, which is as long as the
/// word at least, so that places in the text stay what they are; where a number is expected, no
/// tool writes an array.
struct OddNumber {
    std::string_view word;
    int code;
    double value;
};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr OddNumber odd_numbers[] = {
    {"-nan(ind)", 1, not_a_number},  // of the C library on Windows
    {"nan(ind)", 1, not_a_number},  {"NaN", 1, not_a_number},    {"nan", 1, not_a_number},
    {"-NaN", 1, not_a_number},      {"-nan", 1, not_a_number},   {"Infinity", 2, infinity},
    {"inf", 2, infinity},           {"-Infinity", 3, -infinity}, {"-inf", 3, -infinity}};

constexpr int deepest = 64;

/// Of JSON lines, each is whole, and an object.
bool is_json_lines(std::string_view text) {
    const auto end = text.find('\n');
    if (end == text.npos || text.find_first_not_of(" \t\r\n", end) == text.npos) return false;
    return text.starts_with('{') && json::accept(text.substr(0, end));
}

/// In as many lines, so that places stay what they are.
std::string as_array(std::string lines) {
    while (lines.find_last_of(" \t\r\n") + 1 == lines.size()) lines.pop_back();
    std::string array = "[";
    for (std::size_t at = 0; at < lines.size(); ++at) {
        array += lines[at];
        if (lines[at] == '}' && lines.find_first_not_of(" \t\r", at + 1) == lines.find('\n', at) &&
            lines.find('\n', at) != lines.npos)
            array += ',';
    }
    return array + ']';
}

}  // namespace

std::string with_odd_numbers_coded(std::string_view text, std::string_view after) {
    std::string out;
    out.reserve(text.size());
    bool quoted = false, value_follows = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (!quoted && value_follows)
            if (const auto odd = std::find_if(
                    std::begin(odd_numbers), std::end(odd_numbers),
                    [&](const OddNumber& each) { return text.substr(at).starts_with(each.word); });
                odd != std::end(odd_numbers)) {
                out += fmt::format("{:<{}}", fmt::format("[{}]", odd->code), odd->word.size());
                at += odd->word.size();
                value_follows = false;
                continue;
            }
        if (c == '\\' && quoted && at + 1 < text.size()) out += text[at++];
        if (c == '"') quoted = !quoted;
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            value_follows = after.find(c) != after.npos;
        out += text[at++];
    }
    return out;
}

json parse_tool_json(std::string_view text, const std::string& source) {
    std::string coded = with_odd_numbers_coded(without_byte_order_mark(text), ":,[");
    if (is_json_lines(coded)) coded = as_array(std::move(coded));
    try {
        // Keys may come twice: Google Benchmark writes a user's counters below fields of its own.
        return parse_json(coded, [](int depth, json::parse_event_t, json&) {
            if (depth > deepest) throw JsonRefusal{"not valid JSON: nested too deeply"};
            return true;
        });
    } catch (const JsonError& error) {
        throw UserError(
            fmt::format("{}:{}:{}: {}", source, error.line, error.column, error.what()));
    }
}

const json& member(const json& object, std::string_view key) {
    static const json none;
    if (!object.is_object()) return none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}

std::string word(const json& object, std::string_view key) {
    const json& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<double> number(const json& value) {
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) {
        const Value parsed = parse_value(value.get_ref<const std::string&>());
        if (const auto* whole = std::get_if<std::int64_t>(&parsed))
            return static_cast<double>(*whole);
        if (const auto* real = std::get_if<double>(&parsed)) return *real;
    }
    if (value.is_array() && value.size() == 1)
        for (const OddNumber& odd : odd_numbers)
            if (value.front() == odd.code) return odd.value;
    return std::nullopt;
}

const std::vector<json>& elements(const json& value) {
    static const std::vector<json> none;
    return value.is_array() ? value.get_ref<const json::array_t&>() : none;
}

const json& first_of(const json& object, std::string_view key) {
    const auto& all = elements(member(object, key));
    return all.empty() ? member({}, key) : all.front();
}

std::vector<double> numbers(const json& array) {
    std::vector<double> all;
    for (const json& each : elements(array)) {
        const auto found = number(each);
        if (!found)
            throw NotSuchFile(
                "a value that is no number: " +
                each.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 40));
        all.push_back(*found);
    }
    return all;
}

std::vector<json> one_or_more(const json& value) {
    return value.is_array() ? elements(value) : std::vector<json>{value};
}

Direction direction_of_unit(std::string_view unit) {
    if (unit.ends_with("/s")) return Direction::higher;
    for (const char* time : {"s", "ms", "us", "ns", "min", "h"})
        if (unit == time) return Direction::lower;
    return Direction::none;
}

void copy_members(json& into, const json& from, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const json& value = member(from, key); !value.is_null() && value != "")
            into[key] = value;
}

void take_parameter(BenchmarkRepetition& into, const std::string& name, const json& value) {
    if (value.is_null() || value == "") return;
    const std::string text = value.is_string()
                                 ? value.get<std::string>()
                                 : value.dump(-1, ' ', true, json::error_handler_t::replace);
    Value parsed = parse_value(text);
    // What is no number in a database is a word.
    if (const auto* real = std::get_if<double>(&parsed); real && !std::isfinite(*real))
        parsed = text;
    into.parameters.insert_or_assign(name, std::move(parsed));
}

void take_parameters(BenchmarkRepetition& into, const json& from,
                     std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const json& value = member(from, key); !value.is_null())
            take_parameter(into, key, value);
    if (keys.size() == 0 && from.is_object())
        for (const auto& [key, value] : from.items()) take_parameter(into, key, value);
}

void add_repetitions(BenchmarkFile& file, BenchmarkRepetition made, const BenchmarkMetric& of,
                     const std::vector<double>& values) {
    made.metrics = {of};
    for (const double value : values) {
        made.metrics.front().value = value;
        file.repetitions.push_back(made);
    }
}

std::vector<std::map<std::string, std::string>> table_rows(std::string_view text, char separator) {
    std::vector<std::map<std::string, std::string>> rows;
    std::vector<std::string> columns;
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        std::vector<std::string> fields;
        for (std::size_t from = 0; from <= line.size();) {
            const auto to = std::min(line.find(separator, from), line.size());
            fields.emplace_back(line.substr(from, to - from));
            from = to + 1;
        }
        if (columns.empty()) {
            columns = std::move(fields);
            continue;
        }
        if (fields.size() != columns.size())
            throw NotSuchFile(fmt::format("line {} has {} fields, the header {}", number,
                                          fields.size(), columns.size()));
        auto& row = rows.emplace_back();
        for (std::size_t i = 0; i < fields.size(); ++i)
            row.emplace(columns[i], std::move(fields[i]));
    }
    return rows;
}

std::optional<std::string> bytes_of(const fs::path& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return std::nullopt;
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    return in.bad() ? std::nullopt : std::optional(std::move(bytes));
}

std::vector<double> floats_beside(const std::string& source, const fs::path& named) {
    const fs::path folder = fs::path(source).parent_path();
    const auto bytes = bytes_of(folder / named.parent_path().filename() / named.filename());
    if (!bytes)
        throw NotSuchFile(
            fmt::format("the samples that it names are not beside it: {}", named.string()));
    std::vector<double> values;
    for (std::size_t at = 0; at + 4 <= bytes->size(); at += 4) {
        std::uint32_t bits = 0;
        for (std::size_t i = 4; i-- > 0;)
            bits = bits << 8U | static_cast<unsigned char>((*bytes)[at + i]);
        values.push_back(std::bit_cast<float>(bits));
    }
    return values;
}

}  // namespace assay
