// Names of verdicts, the JSON shape of a checked claim, the command that produces its observations.
#include "suite/claim/claim.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace assay {

bool is_explained(const Claim& claim, const ClaimCheck& check) {
    return check.verdict == ClaimVerdict::contradicted && claim.explained && check.obtained &&
           std::abs(*check.obtained - claim.explained->obtained) <= claim.explained->within;
}

std::string command_for(const Claim& claim) {
    const std::pair<const std::string, std::string>* smallest = nullptr;
    for (const auto& entry : claim.checkable)
        if (!smallest || of_word<Profile>(entry.first) < of_word<Profile>(smallest->first))
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

Claim asked_at(Claim claim, const std::string& profile) {
    const auto at = claim.at.find(profile);
    if (at == claim.at.end()) return claim;
    if (!at->second.metric.empty()) claim.metric = at->second.metric;
    claim.assumes.insert(at->second.assumes.begin(), at->second.assumes.end());
    return claim;
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
                          {"explained", nullptr},
                          {"headline", claim.headline},
                          {"cells", nlohmann::json::array()},
                          {"source", claim.source},
                          {"evidence", nullptr},
                          {"needs", claim.needs},
                          {"command", nullptr}};
    if (claim.value) object["value"] = *claim.value;
    if (claim.evidence) object["evidence"] = to_string(*claim.evidence);
    if (check.provenance) object["provenance"] = to_string(*check.provenance);
    if (check.obtained && std::isfinite(*check.obtained)) object["obtained"] = *check.obtained;
    if (claim.explained)
        object["explained"] = {{"because", claim.explained->because},
                               {"obtained", claim.explained->obtained},
                               {"within", claim.explained->within},
                               {"holds", is_explained(claim, check)}};
    for (const Cell& cell : claim.cells)
        object["cells"].push_back({cell.row, cell.column, cell.value});
    if (const std::string command = command_for(claim); !command.empty())
        object["command"] = command;
    return object;
}

}  // namespace assay
