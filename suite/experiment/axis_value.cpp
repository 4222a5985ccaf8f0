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

double number_axis(const SampleSpec& spec, const std::string& axis) {
    const Value& value = spec.axes.at(axis);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    throw UserError(fmt::format("axis {}: a number, not {}", axis, to_string(value)));
}

const Value* unnamed_value(const Axis& axis, const ProfilePlan& profile) {
    const auto sweep = profile.axes.find(axis.name);
    const bool unnamed = sweep != profile.axes.end() && sweep->second.empty();
    return unnamed && !axis.values.empty() ? &axis.values.front() : nullptr;
}

Case with_unnamed_values(const Experiment& experiment, const SampleSpec& spec) {
    Case whole = spec.axes;
    const ProfilePlan* profile = experiment.plan(spec.profile);
    if (!profile) return whole;
    for (const Axis& axis : experiment.axes)
        if (const Value* value = unnamed_value(axis, *profile))
            whole.try_emplace(axis.name, *value);
    return whole;
}

}  // namespace assay
