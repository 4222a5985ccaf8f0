#include "suite/experiment/axis_value.hpp"

#include <fmt/format.h>

#include "suite/experiment/error.hpp"

namespace assay {

std::int64_t integer_axis(const SampleSpec& spec, const std::string& axis, std::int64_t least,
                          std::int64_t most) {
    const Value& value = spec.axes.at(axis);
    const auto* whole = std::get_if<std::int64_t>(&value);
    if (whole && *whole >= least && *whole <= most) return *whole;
    throw UserError(fmt::format("axis {} needs a whole number from {} to {}, not '{}'", axis, least,
                                most, to_string(value)));
}

std::int64_t integer_axis(const SampleSpec& spec, const std::string& axis) {
    return std::get<std::int64_t>(spec.axes.at(axis));
}

}  // namespace assay
