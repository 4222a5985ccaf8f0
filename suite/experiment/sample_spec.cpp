// A sample's specification as JSON: how it travels into its own process and into the store.
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "suite/experiment/experiment.hpp"

namespace assay {
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
Enum named(const nlohmann::json& object, const char* name,
           std::optional<Enum> (*parse)(std::string_view)) {
    const auto found = parse(text(object, name));
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
    spec.profile = named<Profile>(object, "profile", parse_profile);
    spec.provenance = named<Provenance>(object, "provenance", parse_provenance);
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
