#include "suite/cli/selection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"

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

void add_axis(const std::string& text, std::map<std::string, std::vector<Value>>& axes) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw UserError(
            fmt::format("-a '{}': write AXIS=VALUE,…, for example -a nodes=10,16", text));
    auto& values = axes[text.substr(0, equals)];
    std::string_view rest = std::string_view(text).substr(equals + 1);
    while (true) {
        const auto comma = rest.find(',');
        const std::string_view value = rest.substr(0, comma);
        if (value.empty()) throw UserError(fmt::format("-a '{}': an empty value", text));
        values.push_back(parse_value(value));
        if (comma == std::string_view::npos) return;
        rest.remove_prefix(comma + 1);
    }
}

Profile profile_named(const std::string& name) {
    const auto profile = of_word<Profile>(name);
    if (!profile)
        throw UserError(fmt::format("--profile '{}': one of {}", name, words_of<Profile>()));
    return *profile;
}

Provenance provenance_named(const std::string& name) {
    const auto provenance = of_word<Provenance>(name);
    if (!provenance)
        throw UserError(fmt::format("--mode '{}': one of {}", name, words_of<Provenance>()));
    return *provenance;
}

std::vector<const Claim*> select_claims(const Registry& registry, const std::string& pattern) {
    const std::vector<std::string> ids = experiment_ids(registry, pattern);
    std::vector<const Claim*> claims;
    for (const System& system : registry.systems())
        for (const Claim& claim : system.claims)
            if (std::find(ids.begin(), ids.end(), claim.experiment) != ids.end() ||
                lies_below(claim.id, pattern) || (pattern == "all" && !system.on_request) ||
                pattern == system.id)
                claims.push_back(&claim);
    if (claims.empty() && ids.empty()) {
        const auto nearest = nearest_id(pattern, known_patterns(registry));
        throw UserError(fmt::format("no claim or experiment '{}'; {}{} lists them all", pattern,
                                    nearest ? fmt::format("did you mean '{}'? ", *nearest) : "",
                                    suggested("claims")));
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
