// Names of the enumerations and look-ups inside an experiment.
#include "suite/experiment/experiment.hpp"

#include <fmt/format.h>
#include <algorithm>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "suite/base/error.hpp"

namespace assay {

std::string Experiment::system() const { return id.substr(0, id.find('/')); }

bool ProfilePlan::uses_gpus() const {
    return on_gpus.value_or(profile == Profile::gpu || profile == Profile::cluster);
}

bool MetricSpec::is_deterministic(Provenance provenance) const {
    return deterministic && std::find(varies.begin(), varies.end(), provenance) == varies.end();
}

double ProfilePlan::seconds(Provenance provenance) const {
    const auto found = seconds_of.find(provenance);
    return found == seconds_of.end() ? seconds_per_sample : found->second;
}

ProfilePlan ProfilePlan::of(Provenance provenance) const {
    ProfilePlan plan = *this;
    if (const auto found = axes_of.find(provenance); found != axes_of.end())
        for (const auto& [axis, values] : found->second) plan.axes[axis] = values;
    return plan;
}

const ProfilePlan* Experiment::plan(Profile profile) const {
    for (const ProfilePlan& plan : profiles)
        if (plan.profile == profile) return &plan;
    return nullptr;
}

const MetricSpec* Experiment::metric(std::string_view name) const {
    for (const MetricSpec& metric : metrics)
        if (metric.name == name) return &metric;
    return nullptr;
}

const Axis* Experiment::axis(std::string_view name) const {
    for (const Axis& axis : axes)
        if (axis.name == name) return &axis;
    return nullptr;
}

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

// A sample's specification as JSON: how it travels into its own process and into the store.

namespace {

const nlohmann::json& member(const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end())
        throw std::invalid_argument(std::string("sample specification: '") + name + "' is missing");
    return *found;
}

[[noreturn]] void refuse(const char* name, const char* wanted, const nlohmann::json& got) {
    // Text that is not UTF-8 must not turn an error message into another error.
    const std::string text = got.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    throw std::invalid_argument(std::string("sample specification: '") + name + "' must be " +
                                wanted + ", not " + text);
}

std::string text(const nlohmann::json& object, const char* name) {
    const auto& value = member(object, name);
    if (!value.is_string()) refuse(name, "a string", value);
    return value.get<std::string>();
}

template <class Enum>
Enum named(const nlohmann::json& object, const char* name) {
    const auto found = of_word<Enum>(text(object, name));
    if (!found) refuse(name, (std::string("a known ") + name).c_str(), member(object, name));
    return *found;
}

}  // namespace

nlohmann::json to_json(const SampleSpec& spec) {
    return {{"experiment", spec.experiment},
            {"variant", spec.variant},
            {"case", to_json(spec.axes)},
            {"profile", to_string(spec.profile)},
            {"provenance", to_string(spec.provenance)},
            {"seed", spec.seed},
            {"round", spec.round},
            {"timeout_s", spec.timeout_s},
            {"scenario", spec.scenario},
            {"scratch", spec.scratch},
            {"state", spec.state},
            {"shared", spec.shared}};
}

SampleSpec sample_spec_from_json(const nlohmann::json& object) {
    if (!object.is_object())
        throw std::invalid_argument("sample specification: must be a JSON object");
    SampleSpec spec;
    spec.experiment = text(object, "experiment");
    spec.variant = text(object, "variant");
    spec.axes = case_from_json(member(object, "case"));
    spec.profile = named<Profile>(object, "profile");
    spec.provenance = named<Provenance>(object, "provenance");
    const auto& seed = member(object, "seed");
    if (!seed.is_number_unsigned() && !(seed.is_number_integer() && seed.get<std::int64_t>() >= 0))
        refuse("seed", "a whole number from 0 to 2^64-1", seed);
    spec.seed = seed.get<std::uint64_t>();
    const auto& round = member(object, "round");
    if (!round.is_number_integer() || round < 0 || round > 1'000'000'000)
        refuse("round", "a whole number from 0 to 10^9", round);
    spec.round = round.get<int>();
    const auto& timeout = member(object, "timeout_s");
    if (!timeout.is_number() || !std::isfinite(timeout.get<double>()) || timeout.get<double>() <= 0)
        refuse("timeout_s", "a positive number of seconds", timeout);
    spec.timeout_s = timeout.get<double>();
    spec.scenario = text(object, "scenario");
    spec.scratch = text(object, "scratch");
    // Specs stored by earlier versions do not have these.
    if (object.contains("state")) spec.state = text(object, "state");
    if (object.contains("shared")) spec.shared = text(object, "shared");
    return spec;
}

}  // namespace assay
