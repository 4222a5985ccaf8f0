#include "suite/experiment/catalogue.hpp"

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "suite/base/datasets.hpp"
#include "suite/base/describe.hpp"
#include "suite/claim/tolerance.hpp"

namespace assay {

// What a catalogue tells of each: all fields but the `untold`, the `rare` ones where there is
// something in them.
ASSAY_FIELDS(Axis, name, says, values, open)
ASSAY_FIELDS(MetricSpec, name, unit, says, better, deterministic, labels, only, varies)
ASSAY_FIELDS(ProfilePlan, profile, provenances, axes, axes_of, variants, rounds, seconds_per_sample,
             seconds_of, bytes_per_sample, timeout_s, on_gpus, side_by_side)
ASSAY_FIELDS(Figure, kind, metric, x, panels, x_title, y_title, log_y, drawn_at)
ASSAY_FIELDS(EventKind, name, label, colour, lane)
ASSAY_FIELDS(FaultPhase, name, says, corruptible)

namespace {

using nlohmann::json;

constexpr std::string_view untold[] = {"seconds_of", "on_gpus", "side_by_side"};
constexpr std::string_view rare[] = {"only", "varies", "axes_of"};

bool is_among(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = !std::same_as<T, std::string>;  // those JSON knows
template <class T>
constexpr bool is_map = false;
template <class Key, class T>
constexpr bool is_map<std::map<Key, T>> = true;
template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

// ---- writing -----------------------------------------------------------------------------------
template <class T>
json told(const T& value) {
    if constexpr (Named<T>) {
        return word_of(value);
    } else if constexpr (Described<T>) {
        json object = json::object();
        for_each_field(value, [&]<class Field>(std::string_view name, const Field& field) {
            if constexpr (requires { field.empty(); })
                if (field.empty() && is_among(rare, name)) return;
            if (!is_among(untold, name)) object[name] = told(field);
        });
        return object;
    } else if constexpr (is_map<T>) {
        json object = json::object();
        for (const auto& [key, one] : value) {
            const std::string name = told(key);
            object[name] = told(one);
        }
        return object;
    } else if constexpr (is_list<T>) {
        json array = json::array();
        for (const auto& one : value) array.push_back(told(one));
        return array;
    } else if constexpr (is_optional<T>) {
        return value ? told(*value) : json();
    } else if constexpr (std::same_as<T, Value>) {
        return to_json(value);
    } else {
        return value;
    }
}

// ---- reading -----------------------------------------------------------------------------------
/// Reads what told() wrote. False: a word of a newer program. It leaves a field as it was, lists
/// and maps pass it over; only the profile of a plan must be known.
template <class T>
bool read(const json& from, T& to) {
    if constexpr (Named<T>) {
        const auto known = of_word<T>(from.get<std::string>());
        if (known) to = *known;
        return known.has_value();
    } else if constexpr (Described<T>) {
        for_each_field(to, [&]<class Field>(const char* name, Field& field) {
            if (is_among(untold, name) || (is_among(rare, name) && !from.contains(name))) return;
            if (!read(from.at(name), field) && std::same_as<Field, Profile>)
                throw std::invalid_argument("unknown profile " + from.at(name).dump());
        });
    } else if constexpr (is_map<T>) {
        for (const auto& [name, one] : from.items()) {
            typename T::key_type key{};
            if (read(json(name), key)) read(one, to[key]);
        }
    } else if constexpr (is_list<T>) {
        for (const json& one : from) {
            typename T::value_type element{};
            if (read(one, element)) to.push_back(std::move(element));
        }
    } else if constexpr (is_optional<T>) {
        if (!from.is_null()) read(from, to.emplace());
    } else if constexpr (std::same_as<T, Value>) {
        to = case_from_json(json{{"value", from}}).begin()->second;
    } else {
        from.get_to(to);
    }
    return true;
}

Experiment read_experiment(const json& object) {
    Experiment experiment;
    experiment.id = object.at("id");
    experiment.title = object.at("title");
    experiment.source = object.at("source");
    experiment.says = object.at("says");
    experiment.variants = object.at("variants");
    experiment.takes_faults = object.at("takes_faults");
    experiment.default_scenario = object.at("default_scenario");
    read(object.at("axes"), experiment.axes);
    read(object.at("metrics"), experiment.metrics);
    read(object.at("profiles"), experiment.profiles);
    read(object.at("figure"), experiment.figure);
    return experiment;
}

// A claim's own check is a function of its system; who has none still reads what others found.
void leave_own_checks(System& system) {
    for (const Claim& claim : system.claims)
        if (claim.test.custom())
            system.custom_checks.emplace(
                claim.test.name.substr(std::string_view("custom:").size()),
                [](const Claim& asked, std::span<const Observation>) -> ClaimCheck {
                    return {.claim = asked.id, .verdict = ClaimVerdict::not_run, .reason = {}};
                });
}

System read_system(const json& object) {
    System system;
    system.id = object.at("id");
    system.title = object.at("title");
    system.paper = object.at("paper");
    system.on_request = object.at("on_request");
    read(object.at("event_kinds"), system.event_kinds);
    for (const json& experiment : object.at("experiments"))
        system.experiments.push_back(read_experiment(experiment));
    const auto claims = datasets_dir() / "claims" / (system.id + ".toml");
    if (std::filesystem::exists(claims)) system.claims = read_claims(claims);
    leave_own_checks(system);
    return system;
}

}  // namespace

json experiment_json(const Registry& registry, const Experiment& experiment) {
    json object{{"id", experiment.id},
                {"system", experiment.system()},
                {"title", experiment.title},
                {"source", experiment.source},
                {"says", experiment.says},
                {"variants", experiment.variants},
                {"takes_faults", experiment.takes_faults},
                {"default_scenario", experiment.default_scenario},
                {"axes", told(experiment.axes)},
                {"metrics", told(experiment.metrics)},
                {"profiles", told(experiment.profiles)},
                {"figure", told(experiment.figure)},
                {"claims", json::array()},
                {"claim_values", json::array()},
                {"fault_phases", json::array()}};
    const System* system = registry.system(experiment.system());
    if (system == nullptr) return object;
    for (const Claim& claim : system->claims)
        if (claim.experiment == experiment.id) {
            object["claims"].push_back(claim.id);
            object["claim_values"].push_back(value_text(claim));
        }
    if (experiment.takes_faults) object["fault_phases"] = told(system->fault_phases);
    return object;
}

json catalogue_json(const Registry& registry) {
    json systems = json::array();
    for (const System& system : registry.systems()) {
        json experiments = json::array();
        for (const Experiment& experiment : system.experiments)
            experiments.push_back(experiment_json(registry, experiment));
        systems.push_back({{"id", system.id},
                           {"title", system.title},
                           {"paper", system.paper},
                           {"on_request", system.on_request},
                           {"event_kinds", told(system.event_kinds)},
                           {"experiments", experiments}});
    }
    return {{"systems", systems}};
}

Registry read_catalogue(const json& catalogue) {
    Registry registry;
    try {
        for (const json& system : catalogue.at("systems")) registry.add(read_system(system));
    } catch (const json::exception& error) {
        throw UserError(std::string("this is no catalogue of systems: ") + error.what());
    } catch (const std::logic_error& error) {  // of registering, of values
        throw UserError(std::string("this is no catalogue of systems: ") + error.what());
    }
    return registry;
}

}  // namespace assay
