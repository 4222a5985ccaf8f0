// make_plan(): which samples, in which order, with which estimates.
#include "suite/runner/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "suite/base/sha256.hpp"
#include "suite/data/needs.hpp"
#include "suite/measure/statistics/median_interval.hpp"
#include "suite/runner/adaptive/adaptive_cases.hpp"

namespace assay::runner {
namespace {

/// A plan beyond this is a typing error, not a wish.
constexpr std::size_t max_samples = 10'000'000;

std::vector<std::string> offered_profiles(const Experiment& experiment) {
    std::vector<std::string> names;
    for (const ProfilePlan& plan : experiment.profiles) names.emplace_back(to_string(plan.profile));
    return names;
}

Provenance choose_provenance(const Experiment& experiment, const ProfilePlan& profile,
                             std::optional<Provenance> wanted) {
    if (profile.provenances.empty())
        throw UserError(fmt::format("{} offers no way of running at profile {}", experiment.id,
                                    to_string(profile.profile)));
    if (!wanted) return profile.provenances.front();
    const auto& offered = profile.provenances;
    if (std::find(offered.begin(), offered.end(), *wanted) != offered.end()) return *wanted;
    std::vector<std::string_view> names;
    for (const Provenance provenance : offered) names.push_back(to_string(provenance));
    throw UserError(fmt::format("{} cannot be {} at profile {}; it can be: {}", experiment.id,
                                to_string(*wanted), to_string(profile.profile),
                                fmt::join(names, ", ")));
}

/// The ids in every array `fitted_from` of a calibration, each once.
void collect_fits(const nlohmann::json& value, std::set<std::string>& ids) {
    if (!value.is_structured()) return;
    for (const auto& [key, member] : value.items()) {
        if (key == "fitted_from")
            for (const std::string id : member) ids.insert(id);
        else
            collect_fits(member, ids);
    }
}

/// Whether every word in the sample's case is one that the experiment lists for the profile, or at
/// all: another may be the name of a model that fills the machine.
bool lists_words_of(const Experiment& experiment, const ProfilePlan& profile,
                    const SampleSpec& spec) {
    return std::all_of(spec.axes.begin(), spec.axes.end(), [&](const auto& chosen) {
        const auto& [name, value] = chosen;
        const auto lists = [&](const std::vector<Value>& values) {
            return std::find(values.begin(), values.end(), value) != values.end();
        };
        if (!std::holds_alternative<std::string>(value)) return true;
        const auto swept = profile.axes.find(name);
        if (swept != profile.axes.end() && lists(swept->second)) return true;
        const Axis* const axis = experiment.axis(name);
        return axis != nullptr && lists(axis->values);
    });
}

/// Notes what an emulated or simulated sample takes for granted; returns its hash, empty where
/// there is none.
std::string note_calibration(const Experiment& experiment, const SampleSpec& spec, Plan& plan) {
    const bool modelled =
        spec.provenance == Provenance::emulated || spec.provenance == Provenance::simulated;
    if (!modelled || !experiment.calibration) return {};
    store::Calibration calibration;
    calibration.parameters = experiment.calibration(spec);
    calibration.hash = store::calibration_hash(calibration.parameters);
    calibration.name = experiment.id;
    std::set<std::string> fitted_from;
    collect_fits(calibration.parameters, fitted_from);
    calibration.fitted_from = fitted_from;
    std::string hash = calibration.hash;
    plan.calibrations.try_emplace(hash, std::move(calibration));
    return hash;
}

/// In the experiment's order. Throws UserError for a variant that it does not have.
std::vector<std::string> chosen_variants(const Experiment& experiment, const Request& request) {
    if (request.variants.empty()) {
        const ProfilePlan* plan = experiment.plan(request.profile);
        return plan && !plan->variants.empty() ? plan->variants : experiment.variants;
    }
    for (const std::string& name : request.variants)
        if (std::find(experiment.variants.begin(), experiment.variants.end(), name) ==
            experiment.variants.end())
            throw UserError(fmt::format("{} has no variant '{}'; it has: {}", experiment.id, name,
                                        fmt::join(experiment.variants, ", ")));
    std::vector<std::string> chosen;
    for (const std::string& name : experiment.variants)
        if (std::find(request.variants.begin(), request.variants.end(), name) !=
            request.variants.end())
            chosen.push_back(name);
    return chosen;
}

/// Throws UserError where variants cannot be told apart as asked.
void check_decidable(const Experiment& experiment, const std::vector<std::string>& variants,
                     const DecisionOptions& options) {
    compared_against(experiment, variants, options);
    deciding_metrics(experiment, options);
}

/// With what stands for a plan of faults that is given, where the experiment has such.
Request with_given_faults(Request request, const Experiment& experiment) {
    const Experiment::GivenFaults& given = experiment.given_faults;
    if (!request.scenario_given || given.variant.empty()) return request;
    if (request.variants.empty()) request.variants = {given.variant};
    for (const auto& [axis, value] : given.axes) request.axes.try_emplace(axis, 1, value);
    return request;
}

/// The data set of the catalogue that the value names, where it is not on this machine.
const data::Entry* absent_data(const std::string& axis, const Value& value) {
    const auto* const word = std::get_if<std::string>(&value);
    const data::Entry* const entry = word ? data::serving(axis + ':' + *word) : nullptr;
    return entry && !data::locate(entry->id) ? entry : nullptr;
}

/// The profile with something in place of data sets that are not here (make_plan()).
ProfilePlan with_stand_ins(const Experiment& experiment, ProfilePlan profile,
                           const Request& request, Plan& plan) {
    for (auto& [name, sweep] : profile.axes) {
        const std::string& axis = name;
        const auto absent = [&](const Value& value) { return absent_data(axis, value) != nullptr; };
        const Axis* const declared = experiment.axis(axis);
        if (!declared || request.axes.contains(axis) || sweep.empty() ||
            !std::all_of(sweep.begin(), sweep.end(), absent))
            continue;
        const auto other =
            std::find_if_not(declared->values.begin(), declared->values.end(), absent);
        if (other == declared->values.end()) continue;
        plan.stand_ins.push_back({.experiment = experiment.id,
                                  .axis = axis,
                                  .value = *other,
                                  .absent = sweep.front(),
                                  .fetch = data::fetch_command(*absent_data(axis, sweep.front()))});
        sweep = {*other};
    }
    return profile;
}

/// At most; `samples`: of one round.
int rounds_of(const Experiment& experiment, const ProfilePlan& profile, Provenance provenance,
              std::size_t samples, const Request& request, Plan& plan) {
    if (request.until_decided) return request.until_decided->max_rounds;
    if (request.rounds) return *request.rounds;
    if (!request.until_precise || !gains_by_rounds(experiment, profile, provenance))
        return profile.rounds;
    const int most = most_rounds(profile, provenance, samples, *request.until_precise);
    if (most < statistics::smallest_n_for_interval)
        plan.too_few_rounds.push_back(fmt::format(
            "{}: {} rounds, all that {:g} minutes have room for, tell no two runs apart: "
            "--rounds {} or more would",
            experiment.id, most, request.until_precise->budget_s / 60,
            statistics::smallest_n_for_interval));
    return most;
}

/// Appends the samples of one experiment. Throws UserError when it cannot do what is asked.
void expand(const Experiment& experiment, const Request& as_asked, InputHash& inputs, Plan& plan) {
    const Request request = with_given_faults(as_asked, experiment);
    const ProfilePlan* profile = experiment.plan(request.profile);
    if (profile == nullptr)
        throw UserError(fmt::format("{} has no profile {}; it has: {}", experiment.id,
                                    to_string(request.profile),
                                    fmt::join(offered_profiles(experiment), ", ")));
    if (request.scenario_given && !experiment.takes_faults)
        throw UserError(
            fmt::format("{} takes no faults: leave out --fault and --scenario", experiment.id));
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.profile = profile->profile;
    spec.provenance = choose_provenance(experiment, *profile, request.provenance);
    spec.timeout_s = request.timeout_s.value_or(profile->timeout_s);
    spec.scenario = request.scenario_given ? request.scenario : experiment.default_scenario;
    const std::vector<std::string> chosen = chosen_variants(experiment, request);
    if (request.until_decided) check_decidable(experiment, chosen, *request.until_decided);
    const std::vector<Case> points =
        cases(experiment, with_stand_ins(experiment, profile->of(spec.provenance), request, plan),
              request.axes);
    const int rounds = rounds_of(experiment, *profile, spec.provenance,
                                 points.size() * chosen.size(), request, plan);
    if (points.size() * chosen.size() * static_cast<std::size_t>(rounds) > max_samples)
        throw UserError(fmt::format("{}: more than {} samples; narrow the axes or lower --rounds",
                                    experiment.id, max_samples));
    for (const Case& point : points) {
        spec.axes = point;
        for (int round = 0; round < rounds; ++round) {
            spec.round = round;
            spec.seed = request.seed + static_cast<std::uint64_t>(round);
            std::vector<std::string> variants = chosen;
            if (round % 2 == 1) std::reverse(variants.begin(), variants.end());
            for (const std::string& variant : variants) {
                spec.variant = variant;
                if (experiment.validate) experiment.validate(spec);
                std::vector<HashedInput> files = inputs.of(experiment, spec);
                plan.samples.push_back(
                    {.experiment = &experiment,
                     .spec = spec,
                     .seconds = profile->seconds(spec.provenance),
                     .bytes = profile->bytes_per_sample,
                     .calibration = note_calibration(experiment, spec, plan),
                     .data = data_hash(files),
                     .inputs = std::move(files),
                     .on_gpus = profile->uses_gpus(),
                     .side_by_side =
                         profile->side_by_side && lists_words_of(experiment, *profile, spec)});
            }
        }
    }
}

struct Selected {
    const Experiment* experiment;
    bool by_id;  ///< named itself, so that it must be able to do what is asked
};

std::vector<Selected> select(const Registry& registry, const Request& request) {
    const std::vector<std::string>& patterns = request.patterns;
    if (patterns.empty())
        throw UserError("which experiment? Give an id or a pattern; `assay list` shows them");
    std::vector<Selected> result;
    for (const std::string& pattern : patterns)
        for (const Experiment* experiment : registry.select(pattern)) {
            const bool by_id = experiment->id == pattern;
            const auto it = std::find_if(
                result.begin(), result.end(),
                [&](const Selected& selected) { return selected.experiment == experiment; });
            if (it == result.end())
                result.push_back({experiment, by_id});
            else
                it->by_id = it->by_id || by_id;
        }
    for (const std::string& pattern : request.skip)
        for (const Experiment* experiment : registry.select(pattern))
            std::erase_if(result, [&](const Selected& selected) {
                return selected.experiment == experiment;
            });
    if (result.empty()) throw UserError("--skip leaves nothing to run");
    return result;
}

void check_axes(const std::vector<Selected>& selected, const Request& request) {
    for (const auto& [name, values] : request.axes) {
        if (values.empty())
            throw UserError(
                fmt::format("axis '{}' is given no values: write -a {}=VALUE,…", name, name));
        const std::string& axis = name;
        if (std::any_of(selected.begin(), selected.end(), [&](const Selected& candidate) {
                return candidate.experiment->axis(axis) != nullptr;
            }))
            continue;
        std::set<std::string> known;
        for (const Selected& candidate : selected)
            for (const Axis& other : candidate.experiment->axes) known.insert(other.name);
        throw UserError(
            known.empty()
                ? fmt::format("no axis '{}': {} has no axes", name, selected.front().experiment->id)
                : fmt::format("no axis '{}' in {}; axes: {}", name,
                              fmt::join(request.patterns, " "), fmt::join(known, ", ")));
    }
}

void sum_up(Plan& plan) {
    for (const PlannedSample& sample : plan.samples) {
        plan.seconds += sample.seconds;
        plan.bytes += sample.bytes;
    }
    plan.hash = plan_hash(plan.samples);
}

}  // namespace

std::string sentence(const StandIn& in) {
    return fmt::format(
        "{}: {}={} stands in for {}, which is not here: a series of its own, no check of the "
        "claims that need it. `{}` brings it",
        in.experiment, in.axis, to_string(in.value), to_string(in.absent), in.fetch);
}

Plan make_plan(const Registry& registry, const Request& request) {
    if (request.rounds && *request.rounds < 1)
        throw UserError(fmt::format("--rounds {}: at least 1", *request.rounds));
    if (request.timeout_s && !(*request.timeout_s > 0))
        throw UserError(
            fmt::format("--timeout {}: must be more than 0 seconds", *request.timeout_s));
    if (request.until_decided) {
        if (request.rounds)
            throw UserError("--rounds and --until-decided exclude each other; --max-rounds limits");
        stopping_rule(*request.until_decided);
    }
    const std::vector<Selected> selected = select(registry, request);
    check_axes(selected, request);
    Plan plan;
    InputHash inputs;
    for (const Selected& candidate : selected) {
        const auto before = static_cast<std::ptrdiff_t>(plan.samples.size());
        const std::size_t stood_in = plan.stand_ins.size(), few = plan.too_few_rounds.size();
        try {
            expand(*candidate.experiment, request, inputs, plan);
        } catch (const UserError& error) {
            if (candidate.by_id || selected.size() == 1) throw;
            // Left out whole: what a few of its cases say would pass for all of it.
            plan.samples.erase(plan.samples.begin() + before, plan.samples.end());
            plan.stand_ins.erase(plan.stand_ins.begin() + stood_in, plan.stand_ins.end());
            plan.too_few_rounds.resize(few);
            plan.left_out.emplace_back(error.what());
        }
    }
    if (plan.samples.empty())
        throw UserError(fmt::format("nothing to run: {}", fmt::join(plan.left_out, "; ")));
    sum_up(plan);
    return plan;
}

Plan joined(std::vector<Plan> plans) {
    Plan all;
    for (Plan& plan : plans) {
        std::move(plan.samples.begin(), plan.samples.end(), std::back_inserter(all.samples));
        all.calibrations.merge(plan.calibrations);
        std::move(plan.left_out.begin(), plan.left_out.end(), std::back_inserter(all.left_out));
        std::move(plan.stand_ins.begin(), plan.stand_ins.end(), std::back_inserter(all.stand_ins));
    }
    sum_up(all);
    return all;
}

std::string identity(const SampleSpec& spec) {
    SampleSpec defining = spec;
    defining.scratch.clear();
    defining.state.clear();
    defining.shared.clear();
    defining.timeout_s = 0;
    return to_json(defining).dump();
}

std::string plan_hash(const std::vector<PlannedSample>& samples) {
    Sha256 hash;
    for (const PlannedSample& sample : samples)
        hash.update(
            fmt::format("{} {} {}\n", identity(sample.spec), sample.calibration, sample.data));
    return hash.hex();
}

}  // namespace assay::runner
