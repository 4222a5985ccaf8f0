// The registry: what may be registered, and how patterns select experiments.
#include "suite/experiment/system.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "suite/base/error.hpp"

namespace assay {
namespace {

void demand(bool holds, const std::string& what) {
    if (!holds) throw std::logic_error(what);
}

bool belongs_to(const System& system, std::string_view id) {
    return id.size() > system.id.size() + 1 && id.substr(0, system.id.size()) == system.id &&
           id[system.id.size()] == '/';
}

bool has_variant(const Experiment& experiment, std::string_view name) {
    for (const std::string& variant : experiment.variants)
        if (variant == name) return true;
    return false;
}

bool has_axis_or_label(const Experiment& experiment, const MetricSpec* metric,
                       std::string_view name) {
    if (experiment.axis(name)) return true;
    if (metric)
        for (const std::string& label : metric->labels)
            if (label == name) return true;
    return false;
}

// What an experiment says of itself must fit together.
void demand_whole(const Experiment& experiment) {
    const std::string where = "experiment " + experiment.id + ": ";
    demand(!experiment.variants.empty(), where + "it has no variant, and so no samples");
    std::set<std::string_view> names;
    for (const Axis& axis : experiment.axes)
        demand(names.insert(axis.name).second, where + "axis '" + axis.name + "' is there twice");
    const auto demand_axes = [&](const auto& sweeps) {
        for (const auto& [name, values] : sweeps)
            demand(names.contains(name),
                   where + "a profile sweeps '" + name + "', which is no axis");
    };
    for (const ProfilePlan& plan : experiment.profiles) {
        demand_axes(plan.axes);
        for (const auto& [provenance, sweeps] : plan.axes_of) demand_axes(sweeps);
        for (const std::string& variant : plan.variants)
            demand(has_variant(experiment, variant),
                   where + "a profile has variant '" + variant + "', which is none of its own");
    }
    const Figure& figure = experiment.figure;
    if (figure.kind == Figure::Kind::timeline || figure.metric.empty()) return;
    const MetricSpec* const metric = experiment.metric(figure.metric);
    demand(metric, where + "its figure draws '" + figure.metric + "', which is no metric");
    const auto demand_place = [&](const std::string& name) {
        demand(name == "variant" || has_axis_or_label(experiment, metric, name),
               where + "its figure goes by '" + name + "', which is no axis or label");
    };
    demand_place(figure.x);
    for (const std::string& panel : figure.panels) demand_place(panel);
}

// A claim that asks for what its experiment never produces would read "not run" for ever.
void demand_answerable(const Claim& claim, const Experiment& experiment) {
    const std::string where = "claim " + claim.id + ": experiment " + experiment.id + " has no ";
    const MetricSpec* metric = nullptr;
    if (!claim.metric.empty()) {
        metric = experiment.metric(claim.metric);
        demand(metric, where + "metric '" + claim.metric + "'");
    }
    const auto demand_place = [&](const std::string& name) {
        demand(has_axis_or_label(experiment, metric, name), where + "axis or label '" + name + "'");
    };
    const auto demand_variant = [&](const std::string& name) {
        demand(has_variant(experiment, name), where + "variant '" + name + "'");
    };
    const auto demand_case = [&](const Case& there) {
        for (const auto& [name, value] : there)
            if (name == "variant")
                demand_variant(to_string(value));
            else
                demand_place(name);
    };
    for (const Selector& selector : {claim.of, claim.over.value_or(Selector{})}) {
        if (!selector.variant.empty()) demand_variant(selector.variant);
        demand_case(selector.where);
    }
    const Test& test = claim.test;
    for (const auto& [name, range] : claim.assumes) demand_place(name);
    for (const Case& left_out : test.except) demand_case(left_out);
    for (const auto& [name, range] : test.between) demand_place(name);
    for (const std::string& name : test.absent) demand_place(name);
    demand_case(test.extreme_at);
    if (!test.equal.empty())
        demand(experiment.metric(test.equal), where + "metric '" + test.equal + "'");
    const bool over_variants = test.along.empty() || test.along == "variant";
    if (!over_variants) demand_place(test.along);
    if (over_variants)
        for (const std::string& variant : test.order) demand_variant(variant);
}

// A fit of a whole system names what some of its experiments have.
void demand_fits(const Claim& claim, const Experiment& experiment) {
    for (const Fit& fit : claim.fits) {
        if (std::count(fit.of.begin(), fit.of.end(), '/') < 2) continue;
        const std::string where =
            "a fit of " + fit.of + ": experiment " + experiment.id + " has no ";
        for (const std::string& variant : fit.variants)
            demand(has_variant(experiment, variant), where + "variant '" + variant + "'");
        for (const std::string& metric : fit.metrics)
            demand(experiment.metric(metric), where + "metric '" + metric + "'");
    }
}

// What a highlight shows must be part of this build, or not be declared in it.
void demand_highlight(const System& system) {
    const Highlight& highlight = system.highlight;
    const std::string where = "highlight of " + system.id + ": ";
    bool pictured = highlight.picture.empty();
    for (const Highlight::Part& part : highlight.parts) {
        const Experiment* experiment = nullptr;
        for (const Experiment& own : system.experiments)
            if (own.id == part.experiment) experiment = &own;
        demand(experiment, where + "no experiment '" + part.experiment + "'");
        const std::string lacks = where + part.experiment + " has no ";
        demand(experiment->plan(Profile::toy), lacks + "profile toy");
        for (const auto& [axis, values] : part.axes)
            demand(experiment->axis(axis), lacks + "axis '" + axis + "'");
        for (const std::string& variant : part.variants)
            demand(has_variant(*experiment, variant), lacks + "variant '" + variant + "'");
        pictured = pictured || part.experiment == highlight.picture;
    }
    demand(pictured, where + "its picture '" + highlight.picture + "' is none of its parts");
}

void demand_distinct_names(const System& system) {
    std::set<std::string_view> names;
    for (const EventKind& kind : suite_event_kinds()) names.insert(kind.name);
    for (const EventKind& kind : system.event_kinds)
        demand(names.insert(kind.name).second,
               "system " + system.id + ": event kind '" + kind.name + "' is declared twice");
    std::set<std::string_view> phases{"", "step"};
    for (const FaultPhase& phase : system.fault_phases)
        demand(phases.insert(phase.name).second &&
                   phase.name.find_first_of(",;@=:\n ") == std::string::npos,
               "system " + system.id + ": phase of faults '" + phase.name +
                   "' is declared twice, is the suite's own or is not one word");
}

// `known`: of the systems before it.
template <class Function>
void demand_distinct(const System& system, const std::map<std::string, Function, std::less<>>& own,
                     const std::map<std::string, Function, std::less<>>& known,
                     const std::string& what) {
    for (const auto& [name, function] : own)
        demand(function && !known.contains(name), "system " + system.id + ": " + what + " '" +
                                                      name + "' is empty or is declared twice");
}

bool begins_with(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
}

// '*' stands for any text, '?' for one letter.
bool glob_matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace

void Registry::add(System system) {
    demand(!system.id.empty() && system.id.find('/') == std::string::npos,
           "system id '" + system.id + "' must be one word");
    demand(!this->system(system.id), "system " + system.id + " is registered twice");
    std::map<std::string_view, const Experiment*> experiments;
    for (const Experiment& experiment : system.experiments) {
        demand(belongs_to(system, experiment.id),
               "experiment '" + experiment.id + "' is not of system " + system.id);
        demand(experiments.emplace(experiment.id, &experiment).second,
               "experiment " + experiment.id + " is registered twice");
        demand_whole(experiment);
    }
    demand_highlight(system);
    demand_distinct_names(system);
    demand_distinct(system, system.data_converters, data_converters(), "the converter of data");
    demand_distinct(system, system.data_formats, data_formats(), "the format of data");
    std::set<std::string_view> claims;
    for (const Claim& claim : system.claims) {
        demand(belongs_to(system, claim.id),
               "claim '" + claim.id + "' is not of system " + system.id);
        demand(belongs_to(system, claim.experiment), "claim " + claim.id + ": experiment '" +
                                                         claim.experiment + "' is not of system " +
                                                         system.id);
        demand(claims.insert(claim.id).second, "claim " + claim.id + " is registered twice");
        const auto experiment = experiments.find(claim.experiment);
        if (experiment == experiments.end()) continue;
        demand_answerable(claim, *experiment->second);
        for (const auto& [profile, asked] : claim.at)
            demand_answerable(asked_at(claim, profile), *experiment->second);
        demand_fits(claim, *experiment->second);
        if (claim.test.custom())
            demand(system.custom_checks.count(claim.test.name.substr(7)),
                   "claim " + claim.id + ": system " + system.id + " has no check '" +
                       claim.test.name + "'");
    }
    systems_.push_back(std::move(system));
}

const System* Registry::system(std::string_view id) const {
    for (const System& system : systems_)
        if (system.id == id) return &system;
    return nullptr;
}

const Experiment* Registry::experiment(std::string_view id) const {
    for (const System& system : systems_)
        for (const Experiment& experiment : system.experiments)
            if (experiment.id == id) return &experiment;
    return nullptr;
}

const Claim* Registry::claim(std::string_view id) const {
    for (const System& system : systems_)
        for (const Claim& claim : system.claims)
            if (claim.id == id) return &claim;
    return nullptr;
}

DataConverters Registry::data_converters() const {
    DataConverters all;
    for (const System& system : systems_)
        all.insert(system.data_converters.begin(), system.data_converters.end());
    return all;
}

DataFormats Registry::data_formats() const {
    DataFormats all;
    for (const System& system : systems_)
        all.insert(system.data_formats.begin(), system.data_formats.end());
    return all;
}

FaultPhases Registry::fault_phases() const {
    FaultPhases all;
    for (const System& system : systems_)
        for (const FaultPhase& phase : system.fault_phases) {
            const auto known = std::find_if(all.begin(), all.end(), [&](const FaultPhase& other) {
                return other.name == phase.name;
            });
            if (known == all.end())
                all.push_back(phase);
            else
                known->corruptible = known->corruptible || phase.corruptible;
        }
    return all;
}

std::vector<EventKind> Registry::event_kinds(const Experiment& experiment) const {
    std::vector<EventKind> kinds = suite_event_kinds();
    if (const System* own = system(experiment.system()))
        kinds.insert(kinds.end(), own->event_kinds.begin(), own->event_kinds.end());
    return kinds;
}

std::vector<const Experiment*> Registry::select(std::string_view pattern) const {
    std::vector<const Experiment*> selected;
    std::vector<std::string> known{"all"};
    for (const System& system : systems_) {
        known.push_back(system.id);
        for (const Experiment& experiment : system.experiments) {
            known.push_back(experiment.id);
            const bool meant = !system.on_request || begins_with(pattern, system.id + "/");
            if ((meant && (pattern == "all" || glob_matches(pattern, experiment.id))) ||
                pattern == system.id)
                selected.push_back(&experiment);
        }
    }
    if (!selected.empty()) return selected;
    std::string text = "unknown experiment '" + std::string(pattern) + "'";
    if (this->system(pattern))
        text = "system '" + std::string(pattern) + "' has no experiment in this build";
    else if (const auto nearest = nearest_id(pattern, known))
        text += "; did you mean '" + *nearest + "'?";
    throw UnknownExperiment(text + (text.back() == '?' ? " " : "; ") +
                            "`assay list` shows all experiments");
}

namespace {

bool contains(const std::vector<Value>& values, const Value& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

/// Whether the claim itself names this value of the axis: as the input that it needs
/// ("trace:smartmoe"), or where it looks.
bool asks_for(const Claim& claim, const std::string& axis, const Value& value) {
    const auto selects = [&](const Selector& selector) {
        const auto wanted = selector.where.find(axis);
        return wanted != selector.where.end() && wanted->second == value;
    };
    return contains({claim.needs.begin(), claim.needs.end()}, axis + ":" + to_string(value)) ||
           selects(claim.of) || (claim.over && selects(*claim.over));
}

// A claim speaks of the experiment as its profile sweeps it: a user's own faults or axis values are
// no evidence, unless the axis lists the value and the claim asks for it.
bool is_evidence(const Claim& claim, const Experiment& experiment, const Observation& observation) {
    if (observation.scenario != experiment.default_scenario) return false;
    const ProfilePlan* plan = experiment.plan(observation.profile);
    for (const Axis& axis : experiment.axes) {
        const auto value = observation.axes.find(axis.name);
        if (value == observation.axes.end()) continue;
        const auto swept = plan ? plan->axes.find(axis.name) : decltype(plan->axes.end()){};
        const bool narrowed = plan && swept != plan->axes.end();
        if (contains(narrowed ? swept->second : axis.values, value->second)) continue;
        if (!narrowed || !contains(axis.values, value->second) ||
            !asks_for(claim, axis.name, value->second))
            return false;
    }
    return true;
}

}  // namespace

ClaimCheck check_claim(const Registry& registry, const Claim& claim,
                       std::span<const Observation> observations, const NeedIsHere& here) {
    const Experiment* experiment = registry.experiment(claim.experiment);
    if (!experiment && claim.not_checkable.empty() && !claim.test.name.empty()) {
        ClaimCheck result;
        result.claim = claim.id;
        result.verdict = ClaimVerdict::not_checkable_here;
        result.reason = "experiment " + claim.experiment + " is not part of this build";
        return result;
    }
    static const System without_checks;
    const System* system = registry.system(claim.id.substr(0, claim.id.find('/')));
    std::vector<Observation> evidence;
    for (const Observation& observation : observations)
        if (experiment && is_evidence(claim, *experiment, observation))
            evidence.push_back(observation);
    return check(claim, evidence, (system ? *system : without_checks).custom_checks, here);
}

}  // namespace assay
