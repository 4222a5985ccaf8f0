#include "impls/nn/files/config_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "impls/nn/files/untrusted_file.hpp"

namespace assay::nn {
namespace {

// Far above any model, far below where products of two sizes leave 64 bits.
constexpr std::int64_t largest_size = std::int64_t{1} << 24;

}  // namespace

ConfigValues::ConfigValues(std::string file, const nlohmann::json& object, std::string prefix)
    : file_(std::move(file)), object_(&object), prefix_(std::move(prefix)) {
    if (!object.is_object())
        malformed(file_, prefix_.empty() ? "the model's configuration is no table"
                                         : fmt::format("\"{}\" is no table", prefix_));
}

void ConfigValues::refuse(std::string_view key, std::string_view why) const {
    malformed(file_, fmt::format("{}{} {}", prefix_, key, why));
}

void ConfigValues::refuse_kind(std::string_view key, std::string_view wanted) const {
    refuse(key, fmt::format("is {}, no {}", value_text(require(key)), wanted));
}

const nlohmann::json* ConfigValues::find(std::string_view key) const {
    const auto found = object_->find(prefix_ + std::string(key));
    return found == object_->end() || found->is_null() ? nullptr : &*found;
}

const nlohmann::json& ConfigValues::require(std::string_view key) const {
    const nlohmann::json* const value = find(key);
    if (!value) refuse(key, "is missing");
    return *value;
}

bool ConfigValues::has(std::string_view key) const { return find(key) != nullptr; }

int ConfigValues::size(std::string_view key, std::optional<int> fallback) const {
    if (fallback && !has(key)) return *fallback;
    const nlohmann::json& value = require(key);
    if (!value.is_number_integer()) refuse_kind(key, "whole number");
    const auto number = number_below(largest_size + 1, value);
    if (!number || *number == 0)
        refuse(key, fmt::format("is {}, outside 1 … {}", value.dump(), largest_size));
    return static_cast<int>(*number);
}

double ConfigValues::positive(std::string_view key, std::optional<double> fallback) const {
    if (fallback && !has(key)) return *fallback;
    const nlohmann::json& value = require(key);
    if (!value.is_number()) refuse_kind(key, "number");
    const auto number = value.get<double>();
    if (!std::isfinite(number) || number <= 0)
        refuse(key, fmt::format("is {}, which is not positive", number));
    return number;
}

bool ConfigValues::flag(std::string_view key, bool fallback) const {
    if (!has(key)) return fallback;
    const nlohmann::json& value = require(key);
    if (!value.is_boolean())
        refuse(key, fmt::format("is {}, neither true nor false", value_text(value)));
    return value.get<bool>();
}

std::string ConfigValues::text(std::string_view key, std::optional<std::string> fallback) const {
    if (fallback && !has(key)) return *fallback;
    const nlohmann::json& value = require(key);
    if (!value.is_string()) refuse_kind(key, "text");
    return value.get<std::string>();
}

std::optional<ConfigValues> ConfigValues::table(std::string_view key) const {
    const nlohmann::json* const value = find(key);
    if (!value) return std::nullopt;
    if (!value->is_object()) refuse_kind(key, "table");
    return ConfigValues(file_, *value, "");
}

void ConfigValues::refuse_set(std::string_view key, std::string_view why) const {
    const nlohmann::json* const value = find(key);
    if (!value || *value == false || (value->is_number() && value->get<double>() == 0) ||
        *value == "none")
        return;
    refuse(key, why);
}

}  // namespace assay::nn
