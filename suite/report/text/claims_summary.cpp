#include "suite/report/text/claims_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "suite/data/catalog.hpp"

namespace assay::report {
namespace {

bool is_setting(const Claim* claim) {
    return claim != nullptr && claim->kind == ClaimKind::setting;
}

bool awaits_inputs(const Claim& claim, const ClaimCheck& check) {
    return check.verdict == ClaimVerdict::not_checkable_here && !claim.needs.empty();
}

/// `needs`, and nothing else, keeps it from being checked: the experiment is there.
bool only_awaits_inputs(const Claim& claim, const ClaimCheck& check) {
    return awaits_inputs(claim, check) && claim.not_checkable.empty() && !claim.checkable.empty();
}

bool only_awaits_a_run(const Claim& claim, const ClaimCheck& check) {
    return check.verdict == ClaimVerdict::not_run &&
           check.reason == "`" + command_for(claim) + "` checks it";
}

/// What a group of claims has in common, and the experiments that its members belong to.
struct Group {
    std::size_t count = 0;
    std::string why;          ///< before the command
    std::string command_end;  ///< options of the command that checks them
    bool has_command = false;
    std::vector<std::pair<std::string, std::size_t>> experiments;  ///< in the claims' order

    void add(const std::string& experiment) {
        ++count;
        for (auto& [id, number] : experiments)
            if (id == experiment) {
                ++number;
                return;
            }
        experiments.emplace_back(experiment, 1);
    }
};

std::string named_need(const std::string& need) {
    if (need == "gpu") return "a GPU";
    const auto colon = need.find(':');
    if (colon == std::string::npos) return need;
    return "the " + need.substr(0, colon) + " " + need.substr(colon + 1);
}

/// How the data of a need comes onto this machine; empty where the catalogue does not know.
std::string how_to_get(const std::string& need) {
    for (const data::Entry& entry : data::catalog())
        if (entry.serves == need && !data::locate(entry.id))
            return fmt::format(" (`{}`)", data::fetch_command(entry));
    return {};
}

std::string needed(const Claim& claim) {
    std::vector<std::string> parts;
    for (const std::string& need : claim.needs)
        parts.push_back(named_need(need) + how_to_get(need));
    return fmt::format("need {}", fmt::join(parts, " and "));
}

/// " --profile gpu -a trace=smartmoe": what command_for() adds to the default command.
std::string options_beyond_defaults(const Claim& claim) {
    const std::string command = command_for(claim);
    std::string options;
    const auto keep = [&](const std::string& option, const std::string& usual) {
        for (auto at = command.find(option); at != std::string::npos;
             at = command.find(option, at + 1)) {
            const std::string text = command.substr(at, command.find(' ', at + option.size()) - at);
            if (text != usual) options += text;
        }
    };
    keep(" --profile ", " --profile toy");
    keep(" -a ", "");
    return options;
}

Group begun(const Claim& claim, const ClaimCheck& check) {
    Group group;
    if (only_awaits_a_run(claim, check)) {
        group.why = "not run yet";
        group.has_command = true;
    } else if (only_awaits_inputs(claim, check)) {
        group.why = needed(claim);
        group.has_command = true;
    } else {
        group.why = check.reason;
    }
    if (group.has_command) group.command_end = options_beyond_defaults(claim);
    return group;
}

std::string command_of(const Group& group) {
    constexpr std::size_t most_named = 4;
    std::vector<std::string> ids;
    for (const auto& [id, number] : group.experiments) ids.push_back(id);
    if (ids.size() > most_named)
        return group.command_end.empty() ? "assay reproduce"
                                         : "assay run EXPERIMENT" + group.command_end;
    return fmt::format("assay run {}{}", fmt::join(ids, " "), group.command_end);
}

UncheckedClaims told(const Group& group) {
    UncheckedClaims claims{group.count, group.why, {}};
    if (group.has_command)
        claims.why +=
            fmt::format(": `{}` checks {}", command_of(group), group.count == 1 ? "it" : "them");
    std::vector<std::string> places;
    for (const auto& [id, number] : group.experiments)
        places.push_back(number > 1 ? fmt::format("{} ({})", id, number) : id);
    claims.where = fmt::format("{}", fmt::join(places, ", "));
    return claims;
}

}  // namespace

std::vector<ClaimCheck> newest_checks(const Registry& registry, const store::Store* store,
                                      const std::vector<const Claim*>& claims) {
    std::map<std::string, ClaimCheck> stored;
    if (store != nullptr)
        for (store::StoredCheck& row : store->newest_claim_checks())
            stored.emplace(row.check.claim, std::move(row.check));
    std::vector<ClaimCheck> checks;
    for (const Claim* claim : claims) {
        if (const auto it = stored.find(claim->id); it != stored.end()) {
            checks.push_back(it->second);
            continue;
        }
        const System* system = registry.system(claim->id.substr(0, claim->id.find('/')));
        static const decltype(System::custom_checks) none;
        checks.push_back(check(*claim, {}, system != nullptr ? system->custom_checks : none));
    }
    return checks;
}

bool rests_on_results(const ClaimCheck& check) {
    return check.verdict != ClaimVerdict::not_run &&
           check.verdict != ClaimVerdict::not_checkable_here;
}

ClaimsTally tally(const Registry& registry, std::span<const ClaimCheck> checks) {
    ClaimsTally sum;
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        if (is_setting(claim)) {
            ++sum.settings;
            continue;
        }
        switch (check.verdict) {
            case ClaimVerdict::supported:
                ++sum.hold;
                break;
            case ClaimVerdict::contradicted:
                ++sum.contradicted;
                break;
            case ClaimVerdict::calibrated:
                ++sum.calibrated;
                break;
            case ClaimVerdict::open_discrepancy:
                ++sum.discrepancies;
                break;
            case ClaimVerdict::not_run:
                ++sum.not_run;
                break;
            case ClaimVerdict::not_checkable_here:
                ++(claim != nullptr && awaits_inputs(*claim, check) ? sum.need_inputs
                                                                    : sum.no_command);
                break;
        }
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
    add(open, sum.need_inputs, "needs data or a GPU", "need data or a GPU");
    add(open, sum.not_run, "not run", "not run");
    add(open, sum.no_command, "no command checks", "no command checks");
    std::string text = sum.checked() == 0
                           ? fmt::format("none of {} claims checked", sum.claims())
                           : fmt::format("{} of {} checked hold", sum.hold, sum.checked());
    if (!found.empty()) text += fmt::format(", {}", fmt::join(found, ", "));
    if (!open.empty()) text += fmt::format("; {}", fmt::join(open, ", "));
    return text;
}

std::vector<UncheckedClaims> unchecked(const Registry& registry,
                                       std::span<const ClaimCheck> checks) {
    std::vector<Group> groups;
    std::map<std::pair<std::string, std::string>, std::size_t> index;  // why, options → group
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        if (claim == nullptr || is_setting(claim) || rests_on_results(check)) continue;
        Group group = begun(*claim, check);
        const auto [at, is_new] =
            index.emplace(std::pair(group.why, group.command_end), groups.size());
        if (is_new) groups.push_back(std::move(group));
        groups[at->second].add(claim->experiment);
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& one, const Group& other) {
        return std::pair(one.has_command, one.count) > std::pair(other.has_command, other.count);
    });
    std::vector<UncheckedClaims> all;
    for (const Group& group : groups) all.push_back(told(group));
    return all;
}

std::string place_in_paper(const Registry& registry, const Claim& claim) {
    const System* system = registry.system(claim.id.substr(0, claim.id.find('/')));
    if (system == nullptr || claim.source.rfind(system->paper + ", ", 0) != 0) return claim.source;
    return claim.source.substr(system->paper.size() + 2);
}

}  // namespace assay::report
