// Gathers a report from the store.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/report/figures/experiment_plot.hpp"
#include "suite/report/page/html_page.hpp"

namespace assay::report {
namespace {

/// The check of every claim that the report may show or count, by claim.
std::map<std::string, ClaimCheck> checks_by_claim(const HtmlInput& input) {
    std::vector<const Claim*> claims;
    for (const System& system : input.registry->systems())
        for (const Claim& claim : system.claims) claims.push_back(&claim);
    std::map<std::string, ClaimCheck> checks;
    for (ClaimCheck& check : checks_of_today(*input.registry, input.store, claims))
        checks.emplace(check.claim, std::move(check));
    return checks;
}

void add_claims(const HtmlInput& input, const std::map<std::string, ClaimCheck>& checks,
                ReportedExperiment& reported) {
    const System* system = input.registry->system(reported.experiment->system());
    if (system == nullptr) return;
    std::vector<ClaimCheck> others;
    for (const Claim& claim : system->claims) {
        if (claim.experiment != reported.experiment->id) continue;
        const ClaimCheck& check = checks.at(claim.id);
        if (claim.kind == ClaimKind::setting)
            reported.settings.push_back(&claim);
        else if (rests_on_results(check))
            reported.claims.push_back({&claim, check});
        else
            others.push_back(check);
    }
    reported.unchecked = unchecked(*input.registry, others);
}

}  // namespace

// Timelines are drawn from events and curves, which lists of samples leave out.
std::vector<store::Sample> samples_to_draw(const store::Store& store,
                                           const Experiment& experiment) {
    std::vector<store::Sample> samples = store.newest_samples(experiment.id);
    if (experiment.figure.kind == Figure::Kind::timeline)
        for (store::Sample& sample : samples) sample = store.sample(sample.id);
    return samples;
}

ReportData gather(const HtmlInput& input) {
    ReportData data;
    data.generated = store::now_utc();
    data.database = input.store->path().filename().string();
    const std::vector<store::Session> sessions = input.store->sessions();
    const std::map<std::string, ClaimCheck> checks = checks_by_claim(input);
    std::vector<ClaimCheck> counted;
    for (const Claim* claim : input.claims) counted.push_back(checks.at(claim->id));
    data.headline = headline(tally(*input.registry, counted));
    data.headlines = headlines(*input.registry, counted);
    std::set<std::string> used;
    for (const Experiment* experiment : input.experiments) {
        ReportedExperiment reported{experiment,
                                    samples_to_draw(*input.store, *experiment),
                                    input.store->unsuccessful_samples(experiment->id),
                                    {},
                                    {},
                                    {},
                                    input.registry->event_kinds(*experiment)};
        if (reported.samples.empty() && reported.unsuccessful.empty()) {
            data.without_samples.push_back(experiment->id);
            continue;
        }
        for (const auto* samples : {&reported.samples, &reported.unsuccessful})
            for (const store::Sample& sample : *samples) used.insert(sample.session);
        add_claims(input, checks, reported);
        for (const auto& [claim, check] : reported.claims)
            if (check.verdict == ClaimVerdict::contradicted)
                data.contradicted.push_back(
                    {claim, check, headline_why(*input.registry, *claim, check)});
        data.experiments.push_back(std::move(reported));
    }
    std::set<std::string> machines;
    for (const store::Session& session : sessions) {
        if (!used.contains(session.id)) continue;
        data.sessions.push_back(session);
        if (!machines.insert(session.machine).second) continue;
        if (auto machine = input.store->machine(session.machine))
            data.machines.push_back(std::move(*machine));
    }
    return data;
}

std::string html(const HtmlInput& input) { return html_page(gather(input)); }

std::vector<const Experiment*> with_samples(const HtmlInput& input) {
    const std::vector<std::string> stored = input.store->experiments();
    std::vector<const Experiment*> found;
    for (const Experiment* experiment : input.experiments)
        if (std::find(stored.begin(), stored.end(), experiment->id) != stored.end())
            found.push_back(experiment);
    return found;
}

bool Drawn::has(const std::string& variant, const Case& of) const {
    const auto among = [](const auto& wanted, const auto& one) {
        return wanted.empty() || std::find(wanted.begin(), wanted.end(), one) != wanted.end();
    };
    return (variant.empty() || among(variants, variant)) &&
           std::all_of(axes.begin(), axes.end(), [&](const auto& axis) {
               const auto value = of.find(axis.first);
               return value == of.end() || among(axis.second, value->second);
           });
}

Plot stored_plot(const Registry& registry, const store::Store& store, const Experiment& experiment,
                 const Drawn& drawn) {
    std::vector<store::Sample> samples = samples_to_draw(store, experiment);
    const bool any = !samples.empty();
    std::erase_if(samples, [&](const store::Sample& sample) {
        const SampleSpec& spec = sample.spec;
        return !drawn.has(spec.variant, with_unnamed_values(experiment, spec)) ||
               (drawn.provenance && spec.provenance != *drawn.provenance);
    });
    if (any && samples.empty())
        throw UserError(
            fmt::format("no sample of {} is like that; {} says which variants and values there are",
                        experiment.id, suggested("describe " + experiment.id)));
    if (samples.empty())
        throw UserError(fmt::format("no samples of {} yet; {} makes them", experiment.id,
                                    suggested("run " + experiment.id)));
    std::vector<Claim> claims;
    if (const System* system = registry.system(experiment.system()))
        for (const Claim& claim : system->claims)
            if (claim.experiment == experiment.id && drawn.has(claim.of.variant, claim.of.where))
                claims.push_back(claim);
    return experiment_plot(experiment, samples, claims, registry.event_kinds(experiment));
}

}  // namespace assay::report
