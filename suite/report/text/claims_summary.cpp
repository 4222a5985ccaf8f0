#include "suite/report/text/claims_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/encoding.hpp"
#include "suite/claim/tolerance.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {

std::string_view state_name(ClaimState state) {
    switch (state) {
        case ClaimState::holds:
            return "holds";
        case ClaimState::contradicted:
            return "contradicted";
        case ClaimState::undecided:
            return "undecided";
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
        case ClaimVerdict::undecided:
            return ClaimState::undecided;
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
    const std::string tolerance = tolerance_text(claim);
    object["tolerance"] = nullptr;
    if (!tolerance.empty())
        object["tolerance"] = {{"relative", finite_or_null(claim.relative)},
                               {"absolute", finite_or_null(claim.absolute)},
                               {"text", tolerance}};
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
            checks.push_back(*found->second);
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

namespace {

/// Judges claims by what a store holds, which is read once for each experiment.
class Judge {
  public:
    Judge(const Registry& registry, const store::Store& store, const NeedIsHere& here)
        : registry_(registry), store_(store), here_(here) {}

    ClaimCheck check(const Claim& claim) {
        const auto [found, is_new] = seen_.try_emplace(claim.experiment);
        if (is_new) found->second = store_.observations(claim.experiment);
        return check_claim(registry_, claim, found->second, here_);
    }

  private:
    const Registry& registry_;
    const store::Store& store_;
    const NeedIsHere& here_;
    std::map<std::string, std::vector<Observation>> seen_;  ///< by experiment
};

}  // namespace

std::vector<ClaimCheck> newest_checks(const Registry& registry, const store::Store* store,
                                      const std::vector<const Claim*>& claims,
                                      const NeedIsHere& here) {
    std::vector<ClaimCheck> known;
    std::set<std::string> judged;  // by today's rules
    bool older = false;
    if (store != nullptr)
        for (store::StoredCheck& row : store->newest_claim_checks()) {
            if (row.rules < claim_rules) {
                older = true;
                continue;
            }
            judged.insert(row.check.claim);
            known.push_back(std::move(row.check));
        }
    // What an older program stored may have a claim of today under another name, or not at all.
    if (older) {
        Judge judge(registry, *store, here);
        for (const Claim* claim : claims)
            if (!judged.contains(claim->id) && claim->kind != ClaimKind::setting)
                known.push_back(judge.check(*claim));
    }
    return on_this_machine(registry, claims, known, here);
}

std::vector<ClaimCheck> checks_of_today(const Registry& registry, const store::Store* store,
                                        const std::vector<const Claim*>& claims,
                                        const NeedIsHere& here) {
    std::vector<ClaimCheck> known;
    if (store != nullptr) {
        Judge judge(registry, *store, here);
        for (const Claim* claim : claims)
            if (claim->kind != ClaimKind::setting) known.push_back(judge.check(*claim));
    }
    return on_this_machine(registry, claims, known, here);
}

std::string explanation_text(const Claim& claim, const ClaimCheck& check) {
    if (check.verdict != ClaimVerdict::contradicted || !claim.explained) return {};
    std::string of = number(claim.explained->obtained);
    if (claim.explained->within > 1e-6 * std::abs(claim.explained->obtained))
        of += fmt::format(" ± {}", number(claim.explained->within));
    if (is_explained(claim, check))
        return fmt::format("explained: {} (of {})", claim.explained->because, of);
    return fmt::format("its explanation is of {}, not of {}: {}", of,
                       check.obtained ? number(*check.obtained) : "what was obtained",
                       claim.explained->because);
}

bool rests_on_results(const ClaimCheck& check) {
    return check.verdict != ClaimVerdict::not_run &&
           check.verdict != ClaimVerdict::not_checkable_here;
}

namespace {

void count(StateCounts& sum, const Claim& claim, const ClaimCheck& check, const NeedIsHere& here) {
    constexpr std::size_t StateCounts::*counts[] = {
        &StateCounts::hold,         &StateCounts::contradicted, &StateCounts::undecided,
        &StateCounts::calibrated,   &StateCounts::need_data,    &StateCounts::need_gpu,
        &StateCounts::need_cluster, &StateCounts::no_command,   &StateCounts::not_run};
    ++(sum.*counts[static_cast<std::size_t>(state_of(claim, check, here))]);
    sum.explained += is_explained(claim, check) ? 1 : 0;
    if (check.verdict == ClaimVerdict::supported && check.provenance)
        ++sum.hold_by[*check.provenance];
}

std::string checked_text(const StateCounts& sum) {
    if (sum.checked() == 0) return fmt::format("none of {} claims checked", sum.claims());
    std::string text = fmt::format("{} of {} checked hold", sum.hold, sum.checked());
    if (sum.contradicted > 0)
        text += fmt::format(", {} contradicted{}", sum.contradicted,
                            sum.explained > 0 ? fmt::format(" ({} explained)", sum.explained) : "");
    if (sum.undecided > 0) text += fmt::format(", {} undecided", sum.undecided);
    if (sum.calibrated > 0) text += fmt::format(", {} calibrated", sum.calibrated);
    return text;
}

}  // namespace

ClaimsTally tally(const Registry& registry, std::span<const ClaimCheck> checks,
                  const NeedIsHere& here) {
    ClaimsTally sum;
    static const Claim unknown;
    for (const ClaimCheck& check : checks) {
        const Claim* found = registry.claim(check.claim);
        const Claim& claim = found != nullptr ? *found : unknown;
        if (claim.kind == ClaimKind::setting)
            ++sum.settings;
        else
            count(claim.kind == ClaimKind::ours         ? sum.ours
                  : claim.kind == ClaimKind::arithmetic ? sum.arithmetic
                                                        : sum,
                  claim, check, here);
    }
    return sum;
}

std::string headline(const ClaimsTally& sum) {
    std::vector<std::string> open;
    const auto add = [&](std::size_t count, const char* one, const char* many) {
        if (count > 0) open.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
    };
    add(sum.not_run, "not run", "not run");
    add(sum.need_data, "needs data", "need data");
    add(sum.need_gpu, "needs a GPU", "need a GPU");
    add(sum.need_cluster, "needs the paper's cluster", "need the paper's cluster");
    add(sum.no_command, "no command checks", "no command checks");
    std::vector<std::string> parts;
    if (sum.claims() > 0 || sum.all_kinds() == 0) parts.push_back(checked_text(sum));
    if (!open.empty()) parts.push_back(fmt::format("{}", fmt::join(open, ", ")));
    if (sum.ours.claims() > 0) parts.push_back("ours: " + checked_text(sum.ours));
    if (sum.arithmetic.claims() > 0) parts.push_back("arithmetic: " + checked_text(sum.arithmetic));
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string place_in_paper(const Registry& registry, const Claim& claim) {
    const System* system = registry.system(claim.id.substr(0, claim.id.find('/')));
    if (system == nullptr || claim.source.rfind(system->paper + ", ", 0) != 0) return claim.source;
    return claim.source.substr(system->paper.size() + 2);
}

}  // namespace assay::report
