// check_claims(): every claim of the given experiments against what the store holds.
#include "suite/runner/runner.hpp"

namespace assay::runner {

std::vector<ClaimCheck> check_claims(const Registry& registry, const store::Store& store,
                                     const std::vector<const Experiment*>& experiments) {
    std::vector<ClaimCheck> checks;
    for (const Experiment* experiment : experiments) {
        const System* system = registry.system(experiment->system());
        if (system == nullptr) continue;
        std::optional<std::vector<Observation>> observations;
        for (const Claim& claim : system->claims) {
            if (claim.experiment != experiment->id) continue;
            if (!observations) observations = store.observations(experiment->id);
            checks.push_back(check_claim(registry, claim, *observations));
        }
    }
    return checks;
}

}  // namespace assay::runner
