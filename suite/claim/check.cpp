// The check of one claim: which observations count, whether the test holds, which verdict follows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "suite/base/suggested_command.hpp"
#include "suite/claim/criterion.hpp"

namespace assay {
namespace {

// What one machine says.
struct Finding {
    ClaimCheck check;
    double slack = 0;      // how far it is from failing
    bool complete = true;  // every choice of ends was run
};

struct MachineFinding {
    std::string hardware;  // fingerprint; empty: no machine matters
    std::string host;      // its name, where known
    Finding finding;
};

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
    const std::string command =
        suggested(command_for(claim).substr(std::string_view("assay ").size())) + " checks it";
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

// Every choice of one end per assumption; a claim without assumptions has one empty choice.
std::vector<Case> ends(const Claim& claim) {
    std::vector<Case> choices{{}};
    for (const auto& [name, range] : claim.assumes) {
        std::vector<Case> longer;
        for (const Case& choice : choices)
            for (const Value& end : range) {
                longer.push_back(choice);
                longer.back()[name] = end;
            }
        choices = std::move(longer);
    }
    return choices;
}

bool names(const std::vector<std::string>& list, const std::string& word) {
    return list.empty() || std::find(list.begin(), list.end(), word) != list.end();
}

bool determines(const Fit& fit, const Observation& observation) {
    return (observation.experiment + '/').starts_with(fit.of) &&
           names(fit.variants, observation.variant) && names(fit.metrics, observation.metric) &&
           std::all_of(fit.where.begin(), fit.where.end(), [&](const auto& entry) {
               const Value* found = coordinate(observation, entry.first);
               return found && std::any_of(entry.second.begin(), entry.second.end(),
                                           [&](const Value& v) { return same_value(v, *found); });
           });
}

// Why what holds for these observations is no evidence: a fit determines one of those that the
// claim looks at, or the profile behind one was fitted to this very claim. Empty: it is.
std::string fitted_by(const Claim& claim, const Observations& observations) {
    for (const Observation* observation : observations) {
        const bool looked_at = claim.test.custom() || observation->metric == claim.metric;
        if (!looked_at || !is_selected(claim, *observation)) continue;
        for (const Fit& fit : claim.fits)
            if (determines(fit, *observation)) return fit.because;
        const auto& from = observation->fitted_from;
        if (std::find(from.begin(), from.end(), claim.id) != from.end())
            return "the profile that the cost model used was fitted to this very statement";
    }
    return "";
}

// What one choice of ends says.
struct ChoiceOutcome {
    Case choice;
    TestOutcome outcome;
    std::string fitted;  // why holding would be no evidence
};

// More choices of ends than anybody reads one by one: in how many it holds, what came out over all
// of them, and the least favourable.
constexpr std::size_t most_choices_told = 4;

std::string over_choices(const std::vector<ChoiceOutcome>& all, const ChoiceOutcome& worst) {
    std::size_t holds = 0;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const ChoiceOutcome& one : all) {
        holds += one.outcome.standing == Standing::holds ? 1 : 0;
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

// See `Verdicts` in datasets/claims/README.md.
ClaimVerdict verdict_of(const std::vector<ChoiceOutcome>& all, bool complete) {
    std::size_t fail = 0, hold = 0, fitted = 0, fitted_hold = 0;
    for (const ChoiceOutcome& one : all) {
        const bool holds = one.outcome.standing == Standing::holds;
        fail += one.outcome.standing == Standing::fails;
        hold += holds;
        fitted += !one.fitted.empty();
        fitted_hold += holds && !one.fitted.empty();
    }
    if (!complete) return ClaimVerdict::undecided;
    if (fail == all.size()) return ClaimVerdict::contradicted;
    if (hold == all.size())
        return fitted < all.size() ? ClaimVerdict::supported : ClaimVerdict::calibrated;
    if (fitted > 0 && fitted_hold == fitted && fail == all.size() - fitted)
        return ClaimVerdict::calibrated;
    return ClaimVerdict::undecided;
}

Basis basis_of(const std::vector<ChoiceOutcome>& all, std::vector<Case> not_run_at,
               const SeedRange& seeds) {
    Basis basis{.not_run_at = std::move(not_run_at), .seeds = seeds};
    for (const ChoiceOutcome& one : all) {
        auto& choices = one.outcome.standing == Standing::holds   ? basis.holds_at
                        : one.outcome.standing == Standing::fails ? basis.fails_at
                                                                  : basis.open_at;
        choices.push_back(one.choice);
        if (basis.fitted.empty()) basis.fitted = one.fitted;
    }
    return basis;
}

std::optional<TestOutcome> outcome_of(const Claim& claim, const CustomCheck* custom,
                                      const Observations& observations);

// What a comparable set, or a machine, says of all choices; nothing when its observations reach
// none.
std::optional<Finding> tested(const Claim& claim, const CustomCheck* custom,
                              const Observations& observations) {
    std::vector<ChoiceOutcome> all;
    std::vector<Case> missing;
    for (const Case& choice : ends(claim)) {
        Observations at_end;
        for (const Observation* observation : observations)
            if (is_at(*observation, choice)) at_end.push_back(observation);
        if (std::optional<TestOutcome> outcome = outcome_of(claim, custom, at_end))
            all.push_back({choice, std::move(*outcome), fitted_by(claim, at_end)});
        else
            missing.push_back(choice);
    }
    if (all.empty()) return std::nullopt;
    Finding found{result(claim, verdict_of(all, missing.empty()), ""), 0, missing.empty()};
    ClaimCheck& check = found.check;
    // What is calibrated holds where a fit determines it, and that is what it speaks of.
    const auto speaks = [&](const ChoiceOutcome& one) {
        return check.verdict != ClaimVerdict::calibrated || !one.fitted.empty();
    };
    const auto worst = std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
        return speaks(a) != speaks(b) ? speaks(a) : less_favourable(a.outcome, b.outcome);
    });
    found.slack = worst->outcome.slack;
    check.obtained = worst->outcome.obtained;
    check.basis = basis_of(all, missing, worst->outcome.seeds);
    if (all.size() > most_choices_told) {
        check.reason = over_choices(all, *worst);
    } else {
        for (const ChoiceOutcome& one : all) {
            if (!check.reason.empty()) check.reason += "; ";
            if (!one.choice.empty()) check.reason += "assuming " + to_string(one.choice) + ": ";
            check.reason += one.outcome.text;
        }
    }
    for (const Case& choice : missing)
        check.reason +=
            (&choice == missing.data() ? "; was not run at " : ", ") + to_string(choice);
    if (check.verdict == ClaimVerdict::calibrated)
        check.reason += "; not evidence: " + check.basis->fitted;
    return found;
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

std::vector<TestOutcome> asked(const Claim& claim, const CustomCheck& custom,
                               const std::vector<Observations>& sets) {
    std::vector<TestOutcome> answers;
    for (const Observations& set : sets) {
        std::vector<Observation> seen;
        for (const Observation* observation : set) seen.push_back(*observation);
        const ClaimCheck answer = custom(claim, seen);
        // "not run": a point that it wants is missing.
        if (answer.verdict == ClaimVerdict::not_run) continue;
        const Standing standing = answer.verdict == ClaimVerdict::supported ? Standing::holds
                                  : answer.verdict == ClaimVerdict::contradicted
                                      ? Standing::fails
                                      : Standing::undecided;
        answers.push_back({standing, 0, answer.obtained, answer.reason});
    }
    return answers;
}

std::optional<TestOutcome> outcome_of(const Claim& claim, const CustomCheck* custom,
                                      const Observations& observations) {
    if (!custom) return apply_test(claim, observations);
    std::vector<TestOutcome> answers = asked(claim, *custom, comparable_sets(observations));
    if (answers.empty()) answers = asked(claim, *custom, by_session(observations));
    if (answers.empty()) return std::nullopt;
    return *std::min_element(answers.begin(), answers.end(), less_favourable);
}

bool holds(const ClaimCheck& check) {
    return check.verdict == ClaimVerdict::supported || check.verdict == ClaimVerdict::calibrated;
}

std::string name(const MachineFinding& machine) {
    const std::string_view fingerprint =
        machine.hardware.empty() ? "no machine" : short_hash(machine.hardware);
    return machine.host.empty() ? std::string(fingerprint)
                                : fmt::format("{} ({})", fingerprint, machine.host);
}

std::string named(const std::vector<MachineFinding>& machines, bool that_hold) {
    std::vector<std::string> all;
    for (const MachineFinding& machine : machines)
        if (holds(machine.finding.check) == that_hold) all.push_back(name(machine));
    return joined(all, ", ");
}

bool speaks_first(const MachineFinding& one, const MachineFinding& other) {
    const auto rank = [](const ClaimCheck& check) {
        return check.verdict == ClaimVerdict::contradicted ? 0 : holds(check) ? 2 : 1;
    };
    const int a = rank(one.finding.check), b = rank(other.finding.check);
    if (a != b) return a < b;
    return one.finding.slack < other.finding.slack ||
           (std::isnan(one.finding.slack) && !std::isnan(other.finding.slack));
}

// Of a single machine its own finding. Of several the least favourable one, with a reason that
// names them: all of them where they agree, else on which it holds and on which not.
Finding over_machines(const std::vector<MachineFinding>& findings) {
    const auto worst = std::min_element(findings.begin(), findings.end(), speaks_first);
    Finding found = worst->finding;
    if (findings.size() == 1) return found;
    std::string& reason = found.check.reason;
    const std::string on = named(findings, true), not_on = named(findings, false);
    if (!on.empty() && !not_on.empty())
        reason = fmt::format("holds on {}, not on {}; on {}: {}", on, not_on, name(*worst), reason);
    else
        reason = fmt::format("{} on all {} machines ({}); on {}: {}",
                             on.empty() ? "does not hold" : "holds", findings.size(),
                             on.empty() ? not_on : on, name(*worst), reason);
    return found;
}

std::optional<Finding> on_machines(const Claim& claim, const CustomCheck* custom,
                                   const Observations& observations) {
    std::map<std::string, Observations> machines;
    for (const Observation* observation : observations)
        machines[observation->origin.hardware].push_back(observation);
    std::vector<MachineFinding> findings;
    for (const auto& [hardware, own] : machines)
        if (std::optional<Finding> found = tested(claim, custom, own))
            findings.push_back({hardware, own.front()->host, std::move(*found)});
    if (findings.empty()) return std::nullopt;
    return over_machines(findings);
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

// Taken back for now: neither for nor against.
ClaimCheck reviewed(const Claim& claim, ClaimCheck check) {
    const bool decided =
        check.verdict == ClaimVerdict::supported || check.verdict == ClaimVerdict::contradicted;
    if (claim.review.empty() || !decided) return check;
    check.verdict = ClaimVerdict::undecided;
    check.reason = claim.review + ": " + check.reason;
    return check;
}

}  // namespace

ClaimCheck check(const Claim& claim, std::span<const Observation> observations,
                 const std::map<std::string, CustomCheck, std::less<>>& custom,
                 const NeedIsHere& here) {
    if (!claim.not_checkable.empty())
        return result(claim, ClaimVerdict::not_checkable_here, claim.not_checkable);
    if (claim.kind == ClaimKind::setting)
        return result(claim, ClaimVerdict::not_checkable_here,
                      "a setting of the paper's evaluation, not a result");
    const bool is_custom = claim.test.custom();
    if (claim.metric.empty() && !is_custom)
        return result(claim, ClaimVerdict::not_checkable_here,
                      "no experiment of this version measures it yet");
    const auto named = is_custom ? custom.find(claim.test.name.substr(7)) : custom.end();
    if (is_custom && named == custom.end())
        return result(claim, ClaimVerdict::not_checkable_here,
                      "the check '" + claim.test.name + "' is not part of this build");
    const CustomCheck* custom_check = is_custom ? &named->second : nullptr;

    constexpr std::array largest_first{Profile::paper, Profile::cluster, Profile::gpu,
                                       Profile::small, Profile::toy};
    Found ran;
    std::optional<ClaimCheck> in_part;  // some choices of ends
    for (const Observation& observation : observations)
        ran.elsewhere |= observation.experiment == claim.experiment;
    for (const Profile profile : largest_first) {
        const auto place = claim.checkable.find(std::string(to_string(profile)));
        if (place == claim.checkable.end()) continue;
        const std::optional<Provenance> provenance = of_word<Provenance>(place->second);
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
        std::optional<Finding> found = on_machines(asked, custom_check, counted);
        if (!found) {
            ran.in_part = true;
            ran.apart = ran.apart || would_reach(asked, custom_check, counted);
            continue;  // a smaller profile may have it
        }
        found->check.provenance = provenance;
        if (found->complete) return reviewed(claim, std::move(found->check));
        if (!in_part) in_part = std::move(found->check);
    }
    if (in_part) return *in_part;
    return without_evidence(claim, ran, here);
}

}  // namespace assay
