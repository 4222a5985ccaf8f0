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

/// What an axis is worth in a case that does not name it: the first of its declared values, where
/// the profile's sweep of it is empty. Such an axis is in a case only where it differs from that,
/// so one that an experiment gets later leaves every older series what it is. Null: cases name it.
const Value* unnamed_value(const Axis& axis, const ProfilePlan& profile);

/// The sample's case with those values filled in: for readers, never for a series.
Case with_unnamed_values(const Experiment& experiment, const SampleSpec& spec);

}  // namespace assay
