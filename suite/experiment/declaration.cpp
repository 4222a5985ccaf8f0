#include "suite/experiment/declaration.hpp"

#include <fmt/format.h>

#include "suite/base/error.hpp"

namespace assay::axis_values {

std::int64_t whole(const std::string& axis, const Value& value, std::int64_t least,
                   std::int64_t most) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number && *number >= least && *number <= most) return *number;
    throw UserError(fmt::format("axis {} needs a whole number from {} to {}, not '{}'", axis, least,
                                most, to_string(value)));
}

double real(const std::string& axis, const Value& value, double least, double most) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    if (!whole && !real)
        throw UserError(fmt::format("axis {}: a number, not {}", axis, to_string(value)));
    const double number = whole ? static_cast<double>(*whole) : *real;
    if (number >= least && number <= most) return number;
    throw UserError(fmt::format("axis {} needs a number from {} to {}, not '{}'", axis, least, most,
                                to_string(value)));
}

void refuse_word(const std::string& axis, const Value& value, const std::string& words) {
    throw UserError(fmt::format("axis {}: one of {}, not '{}'", axis, words, to_string(value)));
}

}  // namespace assay::axis_values
