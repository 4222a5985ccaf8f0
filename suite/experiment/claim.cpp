// Names of verdicts, the JSON shape of a checked claim, the command that produces its observations.
#include "suite/experiment/claim.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace assay {

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::supported:
            return "supported";
        case Verdict::contradicted:
            return "contradicted";
        case Verdict::calibrated:
            return "calibrated";
        case Verdict::open_discrepancy:
            return "open discrepancy";
        case Verdict::not_checkable_here:
            return "not checkable here";
        case Verdict::not_run:
            break;
    }
    return "not run";
}

std::string_view to_string(ClaimKind kind) {
    return kind == ClaimKind::setting ? "setting" : "claim";
}

std::string command_for(const Claim& claim) {
    const std::pair<const std::string, std::string>* smallest = nullptr;
    for (const auto& entry : claim.checkable)
        if (!smallest || parse_profile(entry.first) < parse_profile(smallest->first))
            smallest = &entry;
    if (!smallest) return "";
    std::string command = "assay run " + claim.experiment + " --profile " + smallest->first +
                          " --mode " + smallest->second;
    // An input that must be the real one has to be asked for: the default may be a substitute.
    for (const std::string& need : claim.needs) {
        const auto colon = need.find(':');
        if (colon == std::string::npos || !claim.of.where.count(need.substr(0, colon))) continue;
        command += " -a " + need.substr(0, colon) + '=' + need.substr(colon + 1);
    }
    return command;
}

nlohmann::json to_json(const Claim& claim, const ClaimCheck& check) {
    nlohmann::json object{{"id", claim.id},
                          {"experiment", claim.experiment},
                          {"kind", to_string(claim.kind)},
                          {"says", claim.says},
                          {"value", nullptr},
                          {"unit", claim.unit},
                          {"verdict", to_string(check.verdict)},
                          {"reason", check.reason},
                          {"provenance", nullptr},
                          {"obtained", nullptr},
                          {"source", claim.source}};
    if (claim.value) object["value"] = *claim.value;
    if (check.provenance) object["provenance"] = to_string(*check.provenance);
    if (check.obtained && std::isfinite(*check.obtained)) object["obtained"] = *check.obtained;
    return object;
}

}  // namespace assay
