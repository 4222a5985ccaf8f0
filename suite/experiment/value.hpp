// Axis values, labels and cases: the small vocabulary in which experiments describe a sample.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "suite/base/error.hpp"

namespace assay {

using Value = std::variant<std::int64_t, double, std::string>;

/// One point of an experiment's axes: axis name → value. Neither variant nor seed.
using Case = std::map<std::string, Value, std::less<>>;

/// What distinguishes several values of one metric inside a sample: layer, step, rank, failed …
using Labels = std::map<std::string, Value, std::less<>>;

/// "4", "0.5", "gpt-l". A double that is whole keeps a trailing ".0", so that text and type
/// round-trip.
std::string to_string(const Value& value);

/// Integer if the whole text is one, else double, else string.
Value parse_value(std::string_view text);

/// Canonical one-line form, axes in name order: "model=gpt-l step=200". Empty for an empty map.
std::string to_string(const Case& values);

nlohmann::json to_json(const Value& value);
nlohmann::json to_json(const Case& values);

/// Throws std::invalid_argument when a member is neither number nor string.
Case case_from_json(const nlohmann::json& object);

/// "name" or "name{failed=4,layer=2}": the key under which a labelled metric appears in JSON
/// output.
std::string metric_key(std::string_view name, const Labels& labels);

// A seed as users type it.

/// Throws UserError, naming the flag and the range, for anything but 0 to 2^64-1 in decimal digits.
inline std::uint64_t parse_seed(std::string_view text) {
    std::uint64_t seed = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seed);
    if (error != std::errc{} || stop != end)
        throw UserError("--seed '" + std::string(text) +
                        "': give a whole number from 0 to 18446744073709551615");
    return seed;
}

}  // namespace assay
