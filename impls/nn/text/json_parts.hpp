// Access to parts of JSON that may be absent, null or of another type.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace assay::nn {

/// Throws UserError.
[[noreturn]] void refuse_tokenizer_json(const std::string& what);

/// A whole number from 0 to limit − 1; nullopt: anything else.
std::optional<std::int64_t> number_below(std::int64_t limit, const nlohmann::json&);
/// The member, or null: absent, or `parent` is no object.
const nlohmann::json& member(const nlohmann::json& parent, const char* key);
/// Throws UserError where the member is present and no text.
std::string_view text_member(const nlohmann::json& parent, const char* key,
                             std::string_view otherwise);
/// Throws UserError where the member is present and neither true nor false.
bool flag_member(const nlohmann::json& parent, const char* key, bool otherwise);

}  // namespace assay::nn
