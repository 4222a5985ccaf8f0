// Axis values as text and as JSON.
#include "suite/experiment/value.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace assay {
namespace {

std::string double_text(double number) {
    std::string text = fmt::format("{}", number);
    // "4" would come back as an integer.
    if (std::isfinite(number) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

template <class Number>
bool whole_text_is(std::string_view text, Number& out) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, out);
    return error == std::errc() && stop == end && !text.empty();
}

}  // namespace

std::string to_string(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* number = std::get_if<double>(&value)) return double_text(*number);
    return std::get<std::string>(value);
}

Value parse_value(std::string_view text) {
    std::int64_t integer = 0;
    if (whole_text_is(text, integer)) return integer;
    double number = 0;
    // "inf" and "nan" stay words: no axis counts that far.
    if (whole_text_is(text, number) && std::isfinite(number)) return number;
    return std::string(text);
}

std::string to_string(const Case& values) {
    std::string text;
    for (const auto& [name, value] : values) {
        if (!text.empty()) text += ' ';
        text += name + '=' + to_string(value);
    }
    return text;
}

nlohmann::json to_json(const Value& value) {
    return std::visit([](const auto& held) { return nlohmann::json(held); }, value);
}

nlohmann::json to_json(const Case& values) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [name, value] : values) object[name] = to_json(value);
    return object;
}

Case case_from_json(const nlohmann::json& object) {
    if (!object.is_object()) throw std::invalid_argument("axis values must be a JSON object");
    Case values;
    for (const auto& [name, member] : object.items()) {
        if (member.is_number_unsigned() &&
            member.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
            throw std::invalid_argument("axis '" + name + "': " + member.dump() + " is too large");
        if (member.is_number_integer())
            values[name] = member.get<std::int64_t>();
        else if (member.is_number())
            values[name] = member.get<double>();
        else if (member.is_string())
            values[name] = member.get<std::string>();
        else
            throw std::invalid_argument(
                "axis '" + name + "': a number or a string is wanted, not " + member.type_name());
    }
    return values;
}

std::string metric_key(std::string_view name, const Labels& labels) {
    std::string key(name);
    if (labels.empty()) return key;
    char separator = '{';
    for (const auto& [label, value] : labels) {
        key += separator;
        key += label + '=' + to_string(value);
        separator = ',';
    }
    return key + '}';
}

}  // namespace assay
