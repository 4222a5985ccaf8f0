// The check of one claim: which observations count, whether the test holds, which verdict follows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "suite/claim/criterion.hpp"

namespace assay {
namespace {

ClaimCheck result(const Claim& claim, ClaimVerdict verdict, std::string reason) {
    ClaimCheck check;
    check.claim = claim.id;
    check.verdict = verdict;
    check.reason = std::move(reason);
    return check;
}

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
    return text;
}

// A substitute must not pass for the input that a claim needs: with needs = ["trace:smartmoe"], an
// observation whose axis "trace" says something else does not count.
bool has_needed_inputs(const Claim& claim, const Observation& observation) {
    return std::all_of(claim.needs.begin(), claim.needs.end(), [&](const std::string& need) {
        const auto colon = need.find(':');
        if (colon == std::string::npos) return true;
        const Value* used = coordinate(observation, need.substr(0, colon));
        return !used || same_value(*used, Value(need.substr(colon + 1)));
    });
}

std::string how_to_get(const std::string& need) {
    const auto colon = need.find(':');
    if (need == "gpu") return "needs a GPU";
    if (colon == std::string::npos) return "needs " + need;
    const std::string kind = need.substr(0, colon), name = need.substr(colon + 1);
    return "needs the " + kind + " '" + name +
           "' (`assay data list` says where it comes from and how to get it)";
}

// What was found where nothing could be said.
struct Found {
    bool elsewhere = false;  // at another profile or provenance
    bool in_part = false;    // some of what it is about
    bool apart = false;      // all of it, but never comparable with each other
};

ClaimCheck without_evidence(const Claim& claim, const Found& ran, const NeedIsHere& here) {
    if (claim.checkable.empty())
        return result(claim, ClaimVerdict::not_checkable_here,
                      "no profile of this build can check it");
    const std::string command = "`" + command_for(claim) + "` checks it";
    if (ran.apart)
        return result(claim, ClaimVerdict::not_run,
                      "what was run has it only across machines, calibrations or input data, which "
                      "are never set against each other; on one of them " +
                          command);
    std::vector<std::string> missing;
    for (const std::string& need : claim.needs)
        if (!here || !here(need)) missing.push_back(how_to_get(need));
    if (!missing.empty())
        return result(claim, ClaimVerdict::not_checkable_here,
                      joined(missing, ", ") + "; then " + command);
    if (ran.in_part)
        return result(claim, ClaimVerdict::not_run,
                      "what was run lacks a point that it is about; " + command);
    if (ran.elsewhere) {
        std::vector<std::string> places;
        for (const auto& [profile, provenance] : claim.checkable)
            places.push_back(profile + " (" + provenance + ")");
        return result(claim, ClaimVerdict::not_run,
                      "checkable only at profile " + joined(places, ", ") +
                          ", and something else was run; " + command);
    }
    return result(claim, ClaimVerdict::not_run, command);
}

std::string sentence_about(const Claim& claim, std::string reason) {
    if (reason.find(claim.discrepancy) == std::string::npos) reason += ". " + claim.discrepancy;
    return reason;
}

// Every choice of one end per assumption; a claim without assumptions has one empty choice.
std::vector<Case> ends(const Claim& claim) {
    std::vector<Case> choices{{}};
    for (const auto& [name, range] : claim.assumes) {
        std::vector<Case> longer;
        for (const Case& choice : choices)
            for (const double end : range) {
                longer.push_back(choice);
                longer.back()[name] = end;
            }
        choices = std::move(longer);
    }
    return choices;
}

// The claim with one clause more where a device or cluster profile behind the observations was
// fitted to what it says: what agrees then is no evidence.
Claim with_fits(Claim claim, const Observations& observations) {
    const bool fitted =
        std::any_of(observations.begin(), observations.end(), [&](const Observation* observation) {
            const auto& from = observation->fitted_from;
            return std::find(from.begin(), from.end(), claim.id) != from.end();
        });
    if (fitted)
        claim.fitted_from.emplace_back(
            "the profile that the cost model used was fitted to this very statement");
    return claim;
}

// More choices of ends than anybody reads one by one: in how many it holds, what came out over all
// of them, and the least favourable.
constexpr std::size_t most_choices_told = 4;

struct ChoiceOutcome {
    Case choice;
    TestOutcome outcome;
};

std::string over_choices(const std::vector<ChoiceOutcome>& all, const ChoiceOutcome& worst) {
    std::size_t holds = 0;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const ChoiceOutcome& one : all) {
        holds += one.outcome.holds ? 1 : 0;
        low = std::min(low, one.outcome.obtained.value_or(low));
        high = std::max(high, one.outcome.obtained.value_or(high));
    }
    std::vector<std::string> names;
    for (const auto& [name, end] : worst.choice) names.push_back(name);
    return fmt::format("holds at {} of the {} ends of {}{}; the least favourable, {}: {}", holds,
                       all.size(), joined(names, ", "),
                       low <= high ? fmt::format(" ({:.4g} to {:.4g})", low, high) : "",
                       to_string(worst.choice), worst.outcome.text);
}

// Nothing when the observations do not reach.
std::optional<Finding> tested(const Claim& claim, const Observations& observations) {
    Finding found{result(claim, ClaimVerdict::supported, ""),
                  std::numeric_limits<double>::infinity()};
    ClaimCheck& check = found.check;
    std::vector<ChoiceOutcome> all;
    std::size_t worst = 0;
    for (const Case& choice : ends(claim)) {
        Observations at_end;
        for (const Observation* observation : observations)
            if (is_at(*observation, choice)) at_end.push_back(observation);
        const std::optional<TestOutcome> outcome = apply_test(claim, at_end);
        if (!outcome) return std::nullopt;
        // The first end that fails names the value obtained.
        if (check.verdict == ClaimVerdict::supported) check.obtained = outcome->obtained;
        if (!outcome->holds) check.verdict = ClaimVerdict::contradicted;
        all.push_back({choice, *outcome});
        if (outcome->slack < found.slack || std::isnan(outcome->slack)) {
            found.slack = outcome->slack;
            worst = all.size() - 1;
        }
    }
    if (all.size() > most_choices_told) {
        check.obtained = all[worst].outcome.obtained;
        check.reason = over_choices(all, all[worst]);
        return found;
    }
    for (const ChoiceOutcome& one : all) {
        if (!check.reason.empty()) check.reason += "; ";
        if (!one.choice.empty()) check.reason += "assuming " + to_string(one.choice) + ": ";
        check.reason += one.outcome.text;
    }
    return found;
}

std::vector<Finding> asked(const Claim& claim, const CustomCheck& custom,
                           const std::vector<Observations>& sets) {
    std::vector<Finding> answers;
    for (const Observations& set : sets) {
        std::vector<Observation> seen;
        for (const Observation* observation : set) seen.push_back(*observation);
        ClaimCheck answer = custom(claim, seen);
        // "not run": a point that it wants is missing.
        if (answer.verdict != ClaimVerdict::not_run) answers.push_back({std::move(answer), 0});
    }
    return answers;
}

std::vector<Observations> by_session(const Observations& observations) {
    std::map<std::string, Observations> sessions;
    for (const Observation* observation : observations)
        sessions[observation->origin.session].push_back(observation);
    std::vector<Observations> sets;
    for (auto& [session, set] : sessions)
        if (!session.empty()) sets.push_back(std::move(set));
    return sets;
}

// What one machine says; nothing when its observations do not reach. `custom` null: by the test.
std::optional<Finding> on_one_machine(const Claim& claim, const CustomCheck* custom,
                                      const Observations& observations) {
    if (!custom) return tested(claim, observations);
    std::vector<Finding> answers = asked(claim, *custom, comparable_sets(observations));
    if (answers.empty()) answers = asked(claim, *custom, by_session(observations));
    if (answers.empty()) return std::nullopt;
    return least_favourable(answers);
}

std::optional<ClaimCheck> on_machines(const Claim& claim, const CustomCheck* custom,
                                      const Observations& observations) {
    std::map<std::string, Observations> machines;
    for (const Observation* observation : observations)
        machines[observation->origin.hardware].push_back(observation);
    std::vector<MachineFinding> findings;
    for (const auto& [hardware, own] : machines)
        if (std::optional<Finding> found = on_one_machine(claim, custom, own))
            findings.push_back({hardware, own.front()->host, std::move(*found)});
    if (findings.empty()) return std::nullopt;
    return over_machines(std::move(findings));
}

// Whether they would say something if it did not matter where they come from.
bool would_reach(const Claim& claim, const CustomCheck* custom, const Observations& observations) {
    std::vector<Observation> without_origin;
    for (const Observation* observation : observations) {
        without_origin.push_back(*observation);
        without_origin.back().origin = {};
    }
    Observations all;
    for (const Observation& observation : without_origin) all.push_back(&observation);
    return on_machines(claim, custom, all).has_value();
}

}  // namespace

ClaimCheck judged(const Claim& claim, ClaimCheck check) {
    check.claim = claim.id;
    if (check.verdict == ClaimVerdict::contradicted && !claim.discrepancy.empty()) {
        check.verdict = ClaimVerdict::open_discrepancy;
        check.reason = sentence_about(claim, check.reason);
    } else if (check.verdict == ClaimVerdict::supported && !claim.fitted_from.empty()) {
        check.verdict = ClaimVerdict::calibrated;
        check.reason += "; not evidence: " + joined(claim.fitted_from, "; ");
    }
    return check;
}

ClaimCheck check(const Claim& claim, std::span<const Observation> observations,
                 const std::map<std::string, CustomCheck, std::less<>>& custom,
                 const NeedIsHere& here) {
    if (!claim.not_checkable.empty())
        return result(claim, ClaimVerdict::not_checkable_here, claim.not_checkable);
    if (claim.kind == ClaimKind::setting)
        return result(claim, ClaimVerdict::not_checkable_here,
                      "a setting of the paper's evaluation, not a result");
    const bool is_custom = claim.test.substr(0, 7) == "custom:";
    if (claim.metric.empty() && !is_custom)
        return result(claim, ClaimVerdict::not_checkable_here,
                      "no experiment of this version measures it yet");
    const auto named = is_custom ? custom.find(claim.test.substr(7)) : custom.end();
    if (is_custom && named == custom.end())
        return result(claim, ClaimVerdict::not_checkable_here,
                      "the check '" + claim.test + "' is not part of this build");
    const CustomCheck* custom_check = is_custom ? &named->second : nullptr;

    constexpr std::array largest_first{Profile::paper, Profile::cluster, Profile::gpu,
                                       Profile::small, Profile::toy};
    Found ran;
    for (const Observation& observation : observations)
        ran.elsewhere |= observation.experiment == claim.experiment;
    for (const Profile profile : largest_first) {
        const auto place = claim.checkable.find(std::string(to_string(profile)));
        if (place == claim.checkable.end()) continue;
        const std::optional<Provenance> provenance = parse_provenance(place->second);
        Observations counted;
        for (const Observation& observation : observations) {
            if (observation.experiment != claim.experiment || observation.profile != profile ||
                observation.provenance != provenance)
                continue;
            if (has_needed_inputs(claim, observation))
                counted.push_back(&observation);
            else
                ran.in_part = true;
        }
        if (counted.empty()) continue;
        const Claim asked = asked_at(claim, std::string(to_string(profile)));
        std::optional<ClaimCheck> found = on_machines(asked, custom_check, counted);
        if (!found) {  // a smaller profile may have it
            ran.in_part = true;
            ran.apart = ran.apart || would_reach(asked, custom_check, counted);
            continue;
        }
        if (!found->provenance) found->provenance = provenance;
        return judged(with_fits(claim, counted), std::move(*found));
    }
    return without_evidence(claim, ran, here);
}

}  // namespace assay
