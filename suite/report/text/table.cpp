#include "suite/report/text/table.hpp"

#include "suite/report/text/terminal_text.hpp"

namespace assay::report {
namespace {

std::string first(const nlohmann::json& value, std::size_t letters) {
    return value.is_string() ? value.get<std::string>().substr(0, letters) : plain(value);
}

}  // namespace

std::string plain(const nlohmann::json& value) {
    if (value.is_string()) return printable(value.get<std::string>());  // one line
    if (value.is_number_float()) return number(value.get<double>());
    return value.is_null() ? "" : value.dump();
}

std::string short_id(const nlohmann::json& value) { return first(value, 8); }
std::string minute(const nlohmann::json& value) { return first(value, 16); }

Look or_else(std::string words) {
    return [words = std::move(words)](const nlohmann::json& value) {
        std::string text = plain(value);
        return text.empty() ? words : text;
    };
}

nlohmann::json text_or_null(const std::string& text) {
    return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

nlohmann::json number_or_null(std::optional<double> number) {
    return number ? nlohmann::json(*number) : nlohmann::json();
}

}  // namespace assay::report
