// check_claims(): every claim of the given experiments against what the store holds.
#include "suite/data/needs.hpp"
#include "suite/runner/runner.hpp"

namespace assay::runner {
namespace {

bool rests_on_evidence(ClaimVerdict verdict) {
    return verdict != ClaimVerdict::not_run && verdict != ClaimVerdict::not_checkable_here;
}

bool same_finding(const ClaimCheck& one, const ClaimCheck& other) {
    return one.verdict == other.verdict && one.reason == other.reason &&
           one.provenance == other.provenance && one.obtained == other.obtained;
}

/// The newest observations of one experiment, and those of them that one session made and did not.
struct Evidence {
    std::vector<Observation> all, of_session, of_others;
};

Evidence evidence_for(const store::Store& store, const std::string& experiment,
                      const std::string& session) {
    Evidence evidence{store.observations(experiment), {}, {}};
    for (const Observation& observation : evidence.all)
        (observation.origin.session == session ? evidence.of_session : evidence.of_others)
            .push_back(observation);
    return evidence;
}

ClaimCheck check_and_tell_origin(const Registry& registry, const Claim& claim,
                                 const Evidence& evidence) {
    ClaimCheck found = check_claim(registry, claim, evidence.all, data::is_here);
    if (!rests_on_evidence(found.verdict) || evidence.of_others.empty()) return found;
    if (same_finding(found, check_claim(registry, claim, evidence.of_session))) return found;
    const bool wholly = same_finding(found, check_claim(registry, claim, evidence.of_others));
    found.reason += wholly ? " (from an earlier session)" : " (in part from an earlier session)";
    return found;
}

}  // namespace

std::vector<ClaimCheck> check_claims(const Registry& registry, const store::Store& store,
                                     const std::vector<const Experiment*>& experiments,
                                     const std::string& session) {
    std::vector<ClaimCheck> checks;
    for (const Experiment* experiment : experiments) {
        const System* system = registry.system(experiment->system());
        if (system == nullptr) continue;
        std::optional<Evidence> evidence;
        for (const Claim& claim : system->claims) {
            if (claim.experiment != experiment->id) continue;
            if (!evidence) evidence = evidence_for(store, experiment->id, session);
            checks.push_back(session.empty()
                                 ? check_claim(registry, claim, evidence->all, data::is_here)
                                 : check_and_tell_origin(registry, claim, *evidence));
        }
    }
    return checks;
}

}  // namespace assay::runner
