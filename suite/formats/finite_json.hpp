// Numbers for JSON, which knows neither NaN nor infinities.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace assay {

/// null: not finite.
inline nlohmann::json finite_or_null(double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

/// null: not there, or not finite.
inline nlohmann::json finite_or_null(const std::optional<double>& value) {
    return value ? finite_or_null(*value) : nlohmann::json();
}

}  // namespace assay
