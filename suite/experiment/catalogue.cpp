#include "suite/experiment/catalogue.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "suite/base/datasets.hpp"

namespace assay {

namespace {

using nlohmann::json;

// ---- writing -----------------------------------------------------------------------------------
json values_json(const std::vector<Value>& values) {
    json array = json::array();
    for (const Value& value : values) array.push_back(to_json(value));
    return array;
}

json named(const std::vector<Provenance>& provenances) {
    json array = json::array();
    for (const Provenance provenance : provenances) array.push_back(to_string(provenance));
    return array;
}

json metric_json(const MetricSpec& metric) {
    json object{{"name", metric.name},
                {"unit", metric.unit},
                {"says", metric.says},
                {"better", to_string(metric.better)},
                {"deterministic", metric.deterministic},
                {"labels", metric.labels}};
    if (!metric.varies.empty()) object["varies"] = named(metric.varies);
    if (!metric.only.empty()) object["only"] = named(metric.only);
    return object;
}

json sweep_json(const std::map<std::string, std::vector<Value>>& axes) {
    json object = json::object();
    for (const auto& [name, values] : axes) object[name] = values_json(values);
    return object;
}

json profile_json(const ProfilePlan& plan) {
    json object{{"profile", to_string(plan.profile)},
                {"provenances", named(plan.provenances)},
                {"axes", sweep_json(plan.axes)},
                {"variants", plan.variants},
                {"rounds", plan.rounds},
                {"seconds_per_sample", plan.seconds_per_sample},
                {"bytes_per_sample", plan.bytes_per_sample},
                {"timeout_s", plan.timeout_s}};
    for (const auto& [provenance, axes] : plan.axes_of)
        object["axes_of"][std::string(to_string(provenance))] = sweep_json(axes);
    return object;
}

json figure_json(const Figure& figure) {
    json object{{"metric", figure.metric},    {"x", figure.x},
                {"panels", figure.panels},    {"x_title", figure.x_title},
                {"y_title", figure.y_title},  {"log_y", figure.log_y},
                {"drawn_at", figure.drawn_at}};
    object["kind"] = to_string(figure.kind);
    return object;
}

// ---- reading -----------------------------------------------------------------------------------
/// `otherwise`: what a newer program's word reads as.
template <Named E>
E read_word(const json& word, E otherwise) {
    return of_word<E>(word.get<std::string>()).value_or(otherwise);
}

std::vector<Value> read_values(const json& array) {
    std::vector<Value> values;
    for (const json& value : array)
        values.push_back(case_from_json(json{{"value", value}}).begin()->second);
    return values;
}

std::vector<Provenance> read_provenances(const json& array) {
    std::vector<Provenance> provenances;
    for (const json& name : array)
        if (const auto known = of_word<Provenance>(name.get<std::string>()))
            provenances.push_back(*known);
    return provenances;
}

Figure read_figure(const json& object) {
    Figure figure;
    figure.kind = read_word(object.at("kind"), figure.kind);
    figure.metric = object.at("metric");
    figure.x = object.at("x");
    figure.panels = object.at("panels");
    figure.x_title = object.at("x_title");
    figure.y_title = object.at("y_title");
    figure.log_y = object.at("log_y");
    figure.drawn_at = object.at("drawn_at");
    return figure;
}

std::map<std::string, std::vector<Value>> read_sweep(const json& object) {
    std::map<std::string, std::vector<Value>> axes;
    for (const auto& [name, values] : object.items()) axes[name] = read_values(values);
    return axes;
}

ProfilePlan read_profile(const json& object) {
    ProfilePlan plan;
    const auto profile = of_word<Profile>(object.at("profile").get<std::string>());
    if (!profile) throw std::invalid_argument("unknown profile " + object.at("profile").dump());
    plan.profile = *profile;
    plan.provenances = read_provenances(object.at("provenances"));
    plan.axes = read_sweep(object.at("axes"));
    if (const auto special = object.find("axes_of"); special != object.end())
        for (const auto& [name, axes] : special->items())
            if (const auto provenance = of_word<Provenance>(name))
                plan.axes_of[*provenance] = read_sweep(axes);
    plan.variants = object.at("variants");
    plan.rounds = object.at("rounds");
    plan.seconds_per_sample = object.at("seconds_per_sample");
    plan.bytes_per_sample = object.at("bytes_per_sample");
    plan.timeout_s = object.at("timeout_s");
    return plan;
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
    for (const json& axis : object.at("axes"))
        experiment.axes.push_back(
            {axis.at("name"), axis.at("says"), read_values(axis.at("values")), axis.at("open")});
    for (const json& metric : object.at("metrics"))
        experiment.metrics.push_back({metric.at("name"), metric.at("unit"), metric.at("says"),
                                      read_word(metric.at("better"), Direction::none),
                                      metric.at("deterministic"), metric.at("labels"),
                                      read_provenances(metric.value("only", json::array())),
                                      read_provenances(metric.value("varies", json::array()))});
    for (const json& plan : object.at("profiles"))
        experiment.profiles.push_back(read_profile(plan));
    experiment.figure = read_figure(object.at("figure"));
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
    for (const json& kind : object.at("event_kinds"))
        system.event_kinds.push_back({kind.at("name"), kind.at("label"),
                                      read_word(kind.at("colour"), EventColour::other),
                                      read_word(kind.at("lane"), EventLane::rank)});
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
                {"figure", figure_json(experiment.figure)}};
    for (const char* key : {"axes", "metrics", "profiles", "claims", "fault_phases"})
        object[key] = json::array();
    for (const Axis& axis : experiment.axes)
        object["axes"].push_back({{"name", axis.name},
                                  {"says", axis.says},
                                  {"values", values_json(axis.values)},
                                  {"open", axis.open}});
    for (const MetricSpec& metric : experiment.metrics)
        object["metrics"].push_back(metric_json(metric));
    for (const ProfilePlan& plan : experiment.profiles)
        object["profiles"].push_back(profile_json(plan));
    const System* system = registry.system(experiment.system());
    if (system == nullptr) return object;
    for (const Claim& claim : system->claims)
        if (claim.experiment == experiment.id) object["claims"].push_back(claim.id);
    if (experiment.takes_faults)
        for (const FaultPhase& phase : system->fault_phases)
            object["fault_phases"].push_back(
                {{"name", phase.name}, {"says", phase.says}, {"corruptible", phase.corruptible}});
    return object;
}

json catalogue_json(const Registry& registry) {
    json systems = json::array();
    for (const System& system : registry.systems()) {
        json kinds = json::array(), experiments = json::array();
        for (const EventKind& kind : system.event_kinds)
            kinds.push_back({{"name", kind.name},
                             {"label", kind.label},
                             {"colour", to_string(kind.colour)},
                             {"lane", to_string(kind.lane)}});
        for (const Experiment& experiment : system.experiments)
            experiments.push_back(experiment_json(registry, experiment));
        systems.push_back({{"id", system.id},
                           {"title", system.title},
                           {"paper", system.paper},
                           {"on_request", system.on_request},
                           {"event_kinds", kinds},
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
