#include "suite/report/text/claims_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace assay::report {
namespace {

bool is_setting(const Claim* claim) {
    return claim != nullptr && claim->kind == ClaimKind::setting;
}

}  // namespace

std::string_view state_name(ClaimState state) {
    switch (state) {
        case ClaimState::holds:
            return "holds";
        case ClaimState::contradicted:
            return "contradicted";
        case ClaimState::discrepancy:
            return "discrepancy";
        case ClaimState::calibrated:
            return "calibrated";
        case ClaimState::needs_data:
            return "needs data";
        case ClaimState::needs_gpu:
            return "needs GPU";
        case ClaimState::needs_cluster:
            return "needs cluster";
        case ClaimState::no_command:
            return "no command";
        case ClaimState::not_run:
            break;
    }
    return "not run";
}

ClaimState state_of(const Claim& claim, const ClaimCheck& check, const NeedIsHere& here) {
    switch (check.verdict) {
        case ClaimVerdict::supported:
            return ClaimState::holds;
        case ClaimVerdict::contradicted:
            return ClaimState::contradicted;
        case ClaimVerdict::open_discrepancy:
            return ClaimState::discrepancy;
        case ClaimVerdict::calibrated:
            return ClaimState::calibrated;
        case ClaimVerdict::not_run:
            return ClaimState::not_run;
        case ClaimVerdict::not_checkable_here:
            break;
    }
    // What is hardest to come by tells most.
    bool data = false, gpu = false;
    for (const std::string& need : claim.needs) {
        if (need == "cluster") return ClaimState::needs_cluster;
        if (here && here(need)) continue;
        (need == "gpu" ? gpu : data) = true;
    }
    return data ? ClaimState::needs_data : gpu ? ClaimState::needs_gpu : ClaimState::no_command;
}

nlohmann::json claim_json(const Claim& claim, const ClaimCheck& check) {
    nlohmann::json object = to_json(claim, check);
    object["state"] =
        claim.kind == ClaimKind::setting ? "setting" : state_name(state_of(claim, check));
    return object;
}

std::vector<ClaimCheck> on_this_machine(const Registry& registry,
                                        const std::vector<const Claim*>& claims,
                                        std::span<const ClaimCheck> known, const NeedIsHere& here) {
    std::map<std::string, const ClaimCheck*> by_claim;
    for (const ClaimCheck& check : known) by_claim.emplace(check.claim, &check);
    std::vector<ClaimCheck> checks;
    for (const Claim* claim : claims) {
        const auto found = by_claim.find(claim->id);
        if (found != by_claim.end() && rests_on_results(*found->second)) {
            checks.push_back(judged(*claim, *found->second));
            continue;
        }
        checks.push_back(check_claim(registry, *claim, {}, here));
        // Then it knows more: which part was run.
        if (found != by_claim.end() && checks.back().verdict == ClaimVerdict::not_run &&
            found->second->verdict == ClaimVerdict::not_run)
            checks.back() = *found->second;
    }
    return checks;
}

std::vector<ClaimCheck> newest_checks(const Registry& registry, const store::Store* store,
                                      const std::vector<const Claim*>& claims,
                                      const NeedIsHere& here) {
    std::vector<ClaimCheck> stored;
    if (store != nullptr)
        for (store::StoredCheck& row : store->newest_claim_checks())
            stored.push_back(std::move(row.check));
    return on_this_machine(registry, claims, stored, here);
}

bool rests_on_results(const ClaimCheck& check) {
    return check.verdict != ClaimVerdict::not_run &&
           check.verdict != ClaimVerdict::not_checkable_here;
}

ClaimsTally tally(const Registry& registry, std::span<const ClaimCheck> checks,
                  const NeedIsHere& here) {
    ClaimsTally sum;
    const auto count = [&](ClaimState state) -> std::size_t& {
        switch (state) {
            case ClaimState::holds:
                return sum.hold;
            case ClaimState::contradicted:
                return sum.contradicted;
            case ClaimState::discrepancy:
                return sum.discrepancies;
            case ClaimState::calibrated:
                return sum.calibrated;
            case ClaimState::needs_data:
                return sum.need_data;
            case ClaimState::needs_gpu:
                return sum.need_gpu;
            case ClaimState::needs_cluster:
                return sum.need_cluster;
            case ClaimState::no_command:
                return sum.no_command;
            case ClaimState::not_run:
                break;
        }
        return sum.not_run;
    };
    static const Claim unknown;
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        if (is_setting(claim))
            ++sum.settings;
        else
            ++count(state_of(claim != nullptr ? *claim : unknown, check, here));
    }
    return sum;
}

std::string headline(const ClaimsTally& sum) {
    std::vector<std::string> found, open;
    const auto add = [](std::vector<std::string>& parts, std::size_t count, const char* one,
                        const char* many) {
        if (count > 0) parts.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
    };
    add(found, sum.contradicted, "contradicted", "contradicted");
    add(found, sum.discrepancies, "discrepancy", "discrepancies");
    add(found, sum.calibrated, "calibrated", "calibrated");
    add(open, sum.not_run, "not run", "not run");
    add(open, sum.need_data, "needs data", "need data");
    add(open, sum.need_gpu, "needs a GPU", "need a GPU");
    add(open, sum.need_cluster, "needs the paper's cluster", "need the paper's cluster");
    add(open, sum.no_command, "no command checks", "no command checks");
    std::string text = sum.checked() == 0
                           ? fmt::format("none of {} claims checked", sum.claims())
                           : fmt::format("{} of {} checked hold", sum.hold, sum.checked());
    if (!found.empty()) text += fmt::format(", {}", fmt::join(found, ", "));
    if (!open.empty()) text += fmt::format("; {}", fmt::join(open, ", "));
    return text;
}

std::string place_in_paper(const Registry& registry, const Claim& claim) {
    const System* system = registry.system(claim.id.substr(0, claim.id.find('/')));
    if (system == nullptr || claim.source.rfind(system->paper + ", ", 0) != 0) return claim.source;
    return claim.source.substr(system->paper.size() + 2);
}

}  // namespace assay::report
