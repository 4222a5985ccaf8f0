// Gathers a report from the store.
#include "suite/report/report_data.hpp"

#include <set>

namespace assay::report {

ReportData gather(const HtmlInput& input) {
    ReportData data;
    data.generated = store::now_utc();
    data.database = input.store->path().filename().string();
    const std::vector<store::Session> sessions = input.store->sessions();
    std::map<std::string, ClaimCheck> checks;
    for (const store::StoredCheck& stored : input.store->newest_claim_checks())
        checks[stored.check.claim] = stored.check;

    std::set<std::string> used;
    for (const Experiment* experiment : input.experiments) {
        ReportedExperiment reported{experiment,
                                    input.store->newest_samples(experiment->id),
                                    input.store->unsuccessful_samples(experiment->id),
                                    {}};
        if (experiment->figure.kind == Figure::Kind::timeline)
            for (store::Sample& sample : reported.samples) sample = input.store->sample(sample.id);
        for (const auto* samples : {&reported.samples, &reported.unsuccessful})
            for (const store::Sample& sample : *samples) used.insert(sample.session);
        if (const System* system = input.registry->system(experiment->system()))
            for (const Claim& claim : system->claims) {
                if (claim.experiment != experiment->id) continue;
                const auto found = checks.find(claim.id);
                ClaimCheck none;
                none.claim = claim.id;
                none.reason = "Run the experiment to check it.";
                reported.claims.push_back({&claim, found == checks.end() ? none : found->second});
            }
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

}  // namespace assay::report
