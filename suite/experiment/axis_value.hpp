// The values that a sample gives its experiment's axes, typed.
#pragma once

#include <cstdint>
#include <string>

#include "suite/experiment/experiment.hpp"

namespace assay {

/// The whole number on `axis`. Throws UserError, naming the axis and the range, for any other value
/// and for numbers outside `least` to `most`; std::out_of_range where the sample has no such axis.
std::int64_t integer_axis(const SampleSpec& spec, const std::string& axis, std::int64_t least,
                          std::int64_t most);

/// The same once the experiment has validated its samples, or for an axis whose values it lists:
/// anything but a whole number is a mistake in the program (std::bad_variant_access).
std::int64_t integer_axis(const SampleSpec& spec, const std::string& axis);

/// The number on `axis`, whole or not. Throws UserError, naming the axis, for a word;
/// std::out_of_range where the sample has no such axis.
double number_axis(const SampleSpec& spec, const std::string& axis);

}  // namespace assay
