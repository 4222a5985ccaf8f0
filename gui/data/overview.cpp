#include "gui/data/overview.hpp"

#include <algorithm>
#include <set>

#include "suite/report/text/claims_summary.hpp"
#include "suite/store/nights.hpp"

namespace assay::gui {
namespace {

struct Judged {
    std::map<std::string, VerdictCounts> by_experiment;
    VerdictCounts all;
    std::string headline;
};

Judged judge_claims(const Registry& registry, const store::Store& store) {
    std::vector<const Claim*> claims;
    for (const System& system : registry.systems())
        if (!system.on_request)  // as `assay claims` counts them
            for (const Claim& claim : system.claims) claims.push_back(&claim);
    const std::vector<ClaimCheck> checks = report::newest_checks(registry, &store, claims);
    Judged judged;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        if (claims[i]->kind != ClaimKind::claim) continue;  // as `assay claims` counts them
        const std::string verdict(to_string(checks[i].verdict));
        ++judged.by_experiment[claims[i]->experiment][verdict];
        ++judged.all[verdict];
    }
    judged.headline = report::headline(report::tally(registry, checks));
    return judged;
}

/// Ids that an overview has: those that `assay list` has in its order, then others by id.
std::vector<std::string> ids_in_order(const Registry& registry, const std::set<std::string>& met) {
    std::vector<std::string> ids;
    for (const Experiment* experiment : registry.select("all")) ids.push_back(experiment->id);
    const std::set<std::string> listed(ids.begin(), ids.end());
    for (const std::string& id : met)
        if (!listed.contains(id)) ids.push_back(id);
    return ids;
}

std::vector<RunningSession> running_sessions(store::Store& store, const SampleTotals& totals) {
    std::vector<RunningSession> running;
    for (const store::Session& session : totals.running()) {
        if (!store.has_living_runner(session.id)) continue;
        const store::SessionProgress progress = store.progress(session.id);
        RunningSession one{session.id, session.planned, progress.done, std::nullopt};
        if (!progress.running.empty()) one.sample = progress.running;
        running.push_back(std::move(one));
    }
    return running;
}

}  // namespace

Overview read_overview(const Registry& registry, store::Store& store) {
    SampleTotals totals;
    return read_overview(registry, store, totals);
}

Overview read_overview(const Registry& registry, store::Store& store, SampleTotals& totals) {
    Overview overview;
    Judged judged = judge_claims(registry, store);
    overview.headline = std::move(judged.headline);
    overview.claims = std::move(judged.all);

    std::map<std::string, store::ExperimentCounts> counts;
    std::set<std::string> met;
    for (store::ExperimentCounts& of : totals.read(store)) {
        met.insert(of.experiment);
        counts.emplace(of.experiment, std::move(of));
    }
    for (const auto& [experiment, verdicts] : judged.by_experiment) met.insert(experiment);

    std::map<std::string, std::size_t> places;  // of systems
    for (const std::string& id : ids_in_order(registry, met)) {
        const std::string system = id.substr(0, id.find('/'));
        const auto [place, is_new] = places.emplace(system, overview.systems.size());
        if (is_new) {
            const System* known = registry.system(system);
            overview.systems.push_back({system, known ? known->title : "", {}});
        }
        const Experiment* known = registry.experiment(id);
        OverviewExperiment row{id, known ? known->title : "", judged.by_experiment[id], {}, {}};
        if (const auto of = counts.find(id); of != counts.end()) {
            row.samples = of->second.samples;
            row.newest = of->second.newest;
        }
        overview.systems[place->second].experiments.push_back(std::move(row));
    }

    overview.running = running_sessions(store, totals);
    for (const store::RegressionRecord& record : store::Nights(store).regressions("", "")) {
        overview.candidates += record.state == "candidate";
        overview.confirmed += record.state == "confirmed";
    }
    return overview;
}

}  // namespace assay::gui
