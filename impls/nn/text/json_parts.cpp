#include "impls/nn/text/json_parts.hpp"

#include "suite/experiment/error.hpp"

namespace assay::nn {

using nlohmann::json;

void refuse_tokenizer_json(const std::string& what) {
    throw UserError("tokenizer.json cannot be used: " + what);
}

std::optional<std::int64_t> number_below(std::int64_t limit, const json& value) {
    if (!value.is_number_integer()) return std::nullopt;
    const auto number = value.get<std::int64_t>();  // what is beyond its range becomes negative
    if (number < 0 || number >= limit) return std::nullopt;
    return number;
}

const json& member(const json& parent, const char* key) {
    static const json none;
    const auto found = parent.find(key);
    return found == parent.end() ? none : *found;
}

std::string_view text_member(const json& parent, const char* key, std::string_view otherwise) {
    const json& value = member(parent, key);
    if (value.is_null()) return otherwise;
    if (!value.is_string()) refuse_tokenizer_json(std::string("\"") + key + "\" is no text");
    return value.get_ref<const std::string&>();
}

bool flag_member(const json& parent, const char* key, bool otherwise) {
    const json& value = member(parent, key);
    if (value.is_null()) return otherwise;
    if (!value.is_boolean())
        refuse_tokenizer_json(std::string("\"") + key + "\" is neither true nor false");
    return value.get<bool>();
}

}  // namespace assay::nn
