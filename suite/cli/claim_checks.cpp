#include "suite/cli/claim_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/experiment/error.hpp"
#include "suite/experiment/nearest_id.hpp"

namespace assay::cli {
namespace {

/// The experiments that a pattern selects; none when it is no experiment pattern.
std::vector<std::string> experiment_ids(const Registry& registry, const std::string& pattern) {
    std::vector<std::string> ids;
    try {
        for (const Experiment* experiment : registry.select(pattern)) ids.push_back(experiment->id);
    } catch (const std::exception&) {
        // Not an experiment: perhaps a claim.
    }
    return ids;
}

/// Every word that selects claims, the wider ones first: of equally near ones the first is
/// suggested.
std::vector<std::string> known_patterns(const Registry& registry) {
    std::vector<std::string> known{"all"};
    for (const System& system : registry.systems()) known.push_back(system.id);
    for (const System& system : registry.systems())
        for (const Experiment& experiment : system.experiments) known.push_back(experiment.id);
    for (const System& system : registry.systems())
        for (const Claim& claim : system.claims) known.push_back(claim.id);
    return known;
}

bool lies_below(const std::string& id, const std::string& pattern) {
    return id == pattern ||
           (id.size() > pattern.size() && id.compare(0, pattern.size(), pattern) == 0 &&
            id[pattern.size()] == '/');
}

}  // namespace

std::vector<const Claim*> select_claims(const Registry& registry, const std::string& pattern) {
    const std::vector<std::string> ids = experiment_ids(registry, pattern);
    std::vector<const Claim*> claims;
    for (const System& system : registry.systems())
        for (const Claim& claim : system.claims)
            if (std::find(ids.begin(), ids.end(), claim.experiment) != ids.end() ||
                lies_below(claim.id, pattern) || pattern == "all" || pattern == system.id)
                claims.push_back(&claim);
    if (claims.empty() && ids.empty()) {
        const auto nearest = nearest_id(pattern, known_patterns(registry));
        throw UserError(fmt::format("no claim or experiment '{}'; {}`assay claims` lists them all",
                                    pattern,
                                    nearest ? fmt::format("did you mean '{}'? ", *nearest) : ""));
    }
    return claims;
}

std::vector<const Claim*> select_claims(const Registry& registry,
                                        const std::vector<std::string>& patterns) {
    if (patterns.empty()) return select_claims(registry, "all");
    std::vector<const Claim*> claims;
    for (const std::string& pattern : patterns)
        for (const Claim* claim : select_claims(registry, pattern))
            if (std::find(claims.begin(), claims.end(), claim) == claims.end())
                claims.push_back(claim);
    return claims;
}

}  // namespace assay::cli
