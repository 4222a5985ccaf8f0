#include "suite/report/text/unchecked_claims.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "suite/base/suggested_command.hpp"
#include "suite/report/text/claims_summary.hpp"

namespace assay::report {
namespace {

/// What a group of claims has in common, and the experiments that its members belong to.
struct Group {
    std::string why;          ///< before the command
    std::string command_end;  ///< options of the command that checks them
    bool has_command = false;
    std::size_t count = 0;
    std::vector<std::pair<std::string, std::size_t>> experiments;  ///< in the claims' order

    void add(const std::string& experiment, std::size_t more = 1) {
        count += more;
        for (auto& [id, number] : experiments)
            if (id == experiment) {
                number += more;
                return;
            }
        experiments.emplace_back(experiment, more);
    }
};

std::string named_need(const std::string& need) {
    if (need == "gpu") return "a GPU";
    const auto colon = need.find(':');
    if (colon == std::string::npos) return need;
    return "the " + need.substr(0, colon) + " " + need.substr(colon + 1);
}

/// "need the trace smartmoe (`assay data fetch …`)": what is not on this machine.
std::string needed(const Claim& claim, const NeedIsHere& here) {
    std::vector<std::string> parts;
    for (const std::string& need : claim.needs) {
        if (here && here(need)) continue;
        const data::Entry* entry = data::serving(need);
        parts.push_back(named_need(need) +
                        (entry ? fmt::format(" (`{}`)", data::fetch_command(*entry)) : ""));
    }
    return fmt::format("need {}", fmt::join(parts, " and "));
}

/// " --profile gpu --mode emulated -a trace=smartmoe": what command_for() adds to the default
/// command. `experiment` may be null.
std::string options_beyond_defaults(const Claim& claim, const Experiment* experiment) {
    const std::string command = command_for(claim);
    std::string options;
    const auto keep = [&](const std::string& option, const std::string& usual) {
        std::string value;
        for (auto at = command.find(option); at != std::string::npos;
             at = command.find(option, at + 1)) {
            const auto begin = at + option.size();
            value = command.substr(begin, command.find(' ', begin) - begin);
            if (value != usual) options += option + value;
        }
        return value;
    };
    const auto profile = of_word<Profile>(keep(" --profile ", "toy"));
    const ProfilePlan* plan = experiment && profile ? experiment->plan(*profile) : nullptr;
    if (plan && !plan->provenances.empty())
        keep(" --mode ", std::string(to_string(plan->provenances.front())));
    keep(" -a ", "");
    return options;
}

/// A reason of "not run" without the command that it ends with.
std::string why_not_run(const Claim& claim, const std::string& reason) {
    const std::size_t command = reason.rfind('`' + command_for(claim));
    if (command == reason.npos || !reason.ends_with("` checks it")) return reason;
    std::string why = reason.substr(0, command);
    why.erase(why.find_last_not_of("; ") + 1);
    return why.empty() ? "not run yet" : why;
}

Group begun(const Claim& claim, const Experiment* experiment, const ClaimCheck& check,
            const NeedIsHere& here) {
    Group group;
    const bool awaits_inputs = check.verdict == ClaimVerdict::not_checkable_here &&
                               !claim.needs.empty() && claim.not_checkable.empty() &&
                               !claim.checkable.empty();
    if (check.verdict == ClaimVerdict::not_run && !claim.checkable.empty()) {
        group.why = why_not_run(claim, check.reason);
        group.has_command = group.why != check.reason;
    } else if (awaits_inputs) {
        group.why = needed(claim, here);
        group.has_command = true;
    } else {
        group.why = check.reason;
    }
    if (group.has_command) group.command_end = options_beyond_defaults(claim, experiment);
    return group;
}

/// Groups whose reasons are alike but for the experiment.
std::vector<Group> folded(const std::vector<Group>& groups) {
    std::vector<Group> result;
    std::map<std::string, std::vector<const Group*>> alike;  // by the reason without the experiment
    const auto key = [](const Group& group) {
        return group.has_command || group.experiments.size() > 1
                   ? group.why + '\n' + group.command_end
                   : without_experiment(group.why, group.experiments.front().first);
    };
    for (const Group& group : groups) alike[key(group)].push_back(&group);
    for (const Group& group : groups) {
        const auto& same = alike.at(key(group));
        if (same.front() != &group) continue;  // told with the first of them
        result.push_back(group);
        if (same.size() == 1) continue;
        result.back().why = key(group);
        for (auto other = same.begin() + 1; other != same.end(); ++other)
            for (const auto& [id, number] : (*other)->experiments) result.back().add(id, number);
    }
    return result;
}

std::string command_of(const Group& group) {
    constexpr std::size_t most_named = 4;
    std::vector<std::string> ids;
    for (const auto& [id, number] : group.experiments) ids.push_back(id);
    if (ids.size() > most_named && !group.command_end.empty())
        return suggested_line("run EXPERIMENT" + group.command_end);
    if (ids.size() > most_named) {
        std::vector<std::string> systems;
        for (const std::string& id : ids) {
            const std::string system = id.substr(0, id.find('/'));
            if (std::find(systems.begin(), systems.end(), system) == systems.end())
                systems.push_back(system);
        }
        return suggested_line(fmt::format("reproduce {}", fmt::join(systems, " ")));
    }
    return suggested_line(fmt::format("run {}{}", fmt::join(ids, " "), group.command_end));
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

std::string without_experiment(std::string_view reason, std::string_view experiment) {
    if (experiment.empty()) return std::string(reason);
    const auto is_of_a_name = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/';
    };
    std::string out;
    std::size_t at = 0;
    for (std::size_t found = reason.find(experiment); found != std::string_view::npos;
         found = reason.find(experiment, at)) {
        const std::size_t end = found + experiment.size();
        const bool whole = (found == 0 || !is_of_a_name(reason[found - 1])) &&
                           (end == reason.size() || !is_of_a_name(reason[end]));
        out += reason.substr(at, found - at);
        out += whole ? "EXPERIMENT" : experiment;
        at = end;
    }
    return out += reason.substr(at);
}

std::vector<UncheckedClaims> unchecked(const Registry& registry, std::span<const ClaimCheck> checks,
                                       const NeedIsHere& here) {
    std::vector<Group> groups;
    std::map<std::pair<std::string, std::string>, std::size_t> index;  // why, options → group
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        if (claim == nullptr || claim->kind == ClaimKind::setting || rests_on_results(check))
            continue;
        Group group = begun(*claim, registry.experiment(claim->experiment), check, here);
        const auto [at, is_new] =
            index.emplace(std::pair(group.why, group.command_end), groups.size());
        if (is_new) groups.push_back(std::move(group));
        groups[at->second].add(claim->experiment);
    }
    groups = folded(groups);
    std::stable_sort(groups.begin(), groups.end(), [](const Group& one, const Group& other) {
        return std::pair(one.has_command, one.count) > std::pair(other.has_command, other.count);
    });
    std::vector<UncheckedClaims> all;
    for (const Group& group : groups) all.push_back(told(group));
    return all;
}

}  // namespace assay::report
