#include "suite/claim/criterion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace assay {
namespace {

// Both sides come from decimal text and from sums of doubles: a difference in the last digits is
// none.
double rounding(double size) { return 1e-12 * std::max(1.0, std::abs(size)); }

double tolerance(const Claim& claim, double size) {
    return std::max(claim.absolute.value_or(0), claim.relative.value_or(0) * std::abs(size)) +
           rounding(size);
}

std::string number(double value) { return fmt::format("{:.4g}", value); }

// " of mro at failed=4 step=200": what the selector fixes and what `at` adds.
std::string side(const Selector& selector, Case at) {
    std::string name = selector.variant;
    if (const auto open = at.find("variant"); open != at.end()) {
        if (name.empty()) name = to_string(open->second);
        at.erase(open);
    }
    at.insert(selector.where.begin(), selector.where.end());
    return (name.empty() ? "" : " of " + name) + (at.empty() ? "" : " at " + to_string(at));
}

std::string quantity(const Claim& claim, const Case& at) {
    const std::string text = claim.metric + side(claim.of, at);
    return claim.over ? text + " over that" + side(*claim.over, {}) : text;
}

// What is exact is the same for every seed that it does not name; anything else may differ from
// seed to seed, and one seed does not show how much.
std::string samples(const Measured& point, bool ratio, bool exact) {
    if (ratio && !point.paired) return "ratio of medians, no common seeds";
    const std::string what = ratio ? "pair" : "sample";
    const bool one_seed = point.only_seed && !exact;
    if (point.samples == 1)
        return one_seed ? fmt::format("1 {}, seed {} alone: a point, no interval", what,
                                      *point.only_seed)
                        : "1 " + what;
    return fmt::format("median of {} {}s, {} … {}{}", point.samples, what, number(point.low),
                       number(point.high),
                       one_seed ? fmt::format(", all of seed {}", *point.only_seed) : "");
}

std::string expected(const Claim& claim) {
    const std::string value = claim.value ? number(*claim.value) : "";
    if (claim.test == "near") {
        std::string band;
        if (claim.relative && *claim.relative > 0)
            band += fmt::format(" ± {:.3g} %", 100 * *claim.relative);
        if (claim.absolute && *claim.absolute > 1e-6)
            band += fmt::format(" ± {:.3g}", *claim.absolute);
        return "claimed is " + value + band;
    }
    if (claim.test == "at_least") return "claimed is at least " + value;
    if (claim.test == "at_most") return "claimed is at most " + value;
    return claim.value ? "claimed is more than " + value : "claimed is more";
}

// How far the point is from failing; it holds when this is not negative.
double slack(const Claim& claim, const Measured& point) {
    if (claim.test == "greater") {
        const double above = claim.value ? point.value - *claim.value : point.difference;
        return above > rounding(claim.value.value_or(0)) ? above : -1 - std::abs(above);
    }
    const double allowed = tolerance(claim, *claim.value);
    if (claim.test == "near") return allowed - std::abs(point.value - *claim.value);
    if (claim.test == "at_least") return point.value - *claim.value + allowed;
    return *claim.value + allowed - point.value;
}

std::optional<TestOutcome> value_test(const Claim& claim, const Observations& observations) {
    const std::vector<Measured> points = measure(claim, observations, false);
    if (points.empty()) return std::nullopt;
    const Measured* worst = nullptr;
    double least = 0;
    for (const Measured& point : points) {
        const double left = slack(claim, point);
        // A NaN is the least favourable of all.
        if (worst && !(left < least || left != left)) continue;
        worst = &point;
        least = left;
        if (left != left) break;
    }
    TestOutcome outcome;
    outcome.holds = least >= 0;
    outcome.slack = least;
    outcome.obtained = worst->value;
    outcome.text =
        fmt::format("{} is {} ({}); {}", quantity(claim, worst->at), number(worst->value),
                    samples(*worst, claim.over.has_value(),
                            observations.front()->provenance == Provenance::exact),
                    expected(claim));
    if (points.size() > 1)
        outcome.text += fmt::format(" (the least favourable of {} cases)", points.size());
    return outcome;
}

bool comes_before(const Value& a, const Value& b) {
    const auto rank = [](const Value& value) -> std::pair<int, double> {
        if (const auto* integer = std::get_if<std::int64_t>(&value))
            return {0, static_cast<double>(*integer)};
        if (const auto* real = std::get_if<double>(&value)) return {0, *real};
        return {1, 0.0};
    };
    const auto left = rank(a), right = rank(b);
    if (left != right || left.first == 0) return left < right;
    return std::get<std::string>(a) < std::get<std::string>(b);
}

struct Step {
    Value where;
    double value;
};
struct Walk {
    Case rest;  ///< where it is taken
    std::vector<Step> steps;
};
using Walks = std::vector<Walk>;

// The points of which every observation lies in one comparable set of all of them.
std::vector<std::vector<const Measured*>> comparable(const std::vector<const Measured*>& points) {
    std::vector<const Origin*> origins;
    std::vector<std::size_t> owner;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (const Origin* origin : points[i]->origins) {
            origins.push_back(origin);
            owner.push_back(i);
        }
    std::vector<std::vector<const Measured*>> sets;
    for (const std::vector<std::size_t>& set : comparable_sets(origins)) {
        std::vector<std::size_t> inside(points.size(), 0);
        for (const std::size_t i : set) ++inside[owner[i]];
        sets.emplace_back();
        for (std::size_t i = 0; i < points.size(); ++i)
            if (inside[i] == points[i]->origins.size()) sets.back().push_back(points[i]);
    }
    return sets;
}

// A walk along the coordinate for each remaining case and comparable set.
Walks walks_along(const std::string& along, const std::vector<Measured>& points) {
    std::map<Case, std::vector<const Measured*>> cases;
    for (const Measured& point : points) {
        Case rest = point.at;
        if (rest.erase(along) > 0) cases[rest].push_back(&point);
    }
    Walks walks;
    for (const auto& [rest, all] : cases)
        for (const std::vector<const Measured*>& set : comparable(all)) {
            walks.push_back({rest, {}});
            for (const Measured* point : set)
                walks.back().steps.push_back({point->at.at(along), point->value});
        }
    for (auto& [rest, walk] : walks)
        std::sort(walk.begin(), walk.end(),
                  [](const Step& a, const Step& b) { return comes_before(a.where, b.where); });
    return walks;
}

std::string step_text(const std::string& along, const Step& step) {
    return number(step.value) + " (" + along + '=' + to_string(step.where) + ')';
}

// `sign` +1: values must not fall from step to step; −1: must not rise. The ends must differ.
TestOutcome walk_test(const Claim& claim, const std::string& along, const Walks& walks, int sign) {
    TestOutcome outcome;
    outcome.holds = true;
    for (const auto& [rest, walk] : walks) {
        const Step *from = &walk.front(), *to = &walk.back();
        bool holds = sign * (to->value - from->value) > rounding(from->value);
        for (std::size_t i = 1; i < walk.size(); ++i) {
            const double rise = sign * (walk[i].value - walk[i - 1].value);
            if (rise >= -tolerance(claim, walk[i - 1].value)) continue;
            holds = false;
            from = &walk[i - 1];
            to = &walk[i];
            break;
        }
        if (!outcome.text.empty() && (holds || !outcome.holds)) continue;
        outcome.holds = holds;
        outcome.text = fmt::format("{} goes from {} to {}", quantity(claim, rest),
                                   step_text(along, *from), step_text(along, *to));
    }
    if (walks.size() > 1)
        outcome.text += outcome.holds ? fmt::format(", alike in all {} cases", walks.size())
                                      : fmt::format(" in one of {} cases", walks.size());
    return outcome;
}

// Whether each case has a complete walk. Other walks of the same case may be pieces, where a part
// of it was made anew under another calibration or other data.
bool reach_all_cases(const Walks& complete, const Walks& found) {
    std::set<Case> reached;
    for (const Walk& walk : complete) reached.insert(walk.rest);
    return !found.empty() && std::all_of(found.begin(), found.end(), [&](const Walk& walk) {
        return reached.contains(walk.rest);
    });
}

std::optional<TestOutcome> monotone_test(const Claim& claim, const Observations& observations) {
    const Walks found = walks_along(claim.along, measure(claim, observations, false));
    Walks walks;
    std::copy_if(found.begin(), found.end(), std::back_inserter(walks),
                 [](const Walk& walk) { return walk.steps.size() >= 2; });
    if (!reach_all_cases(walks, found)) return std::nullopt;
    TestOutcome outcome = walk_test(claim, claim.along, walks, claim.test == "increasing" ? 1 : -1);
    outcome.text += fmt::format("; claimed is that it is {} along {}", claim.test, claim.along);
    return outcome;
}

// The steps that the claim orders, from largest to smallest; nothing where one is missing.
std::optional<Walk> in_claimed_order(const Claim& claim, const std::string& along,
                                     const Walk& found) {
    Walk walk{found.rest, {}};
    for (const std::string& name : claim.order) {
        const Value wanted = along == "variant" ? Value(name) : parse_value(name);
        const auto step = std::find_if(
            found.steps.begin(), found.steps.end(),
            [&](const Step& candidate) { return same_value(candidate.where, wanted); });
        if (step == found.steps.end()) return std::nullopt;
        walk.steps.push_back(*step);
    }
    return walk;
}

std::optional<TestOutcome> order_test(const Claim& claim, const Observations& observations) {
    const std::string along = claim.along.empty() ? "variant" : claim.along;
    const Walks found = walks_along(along, measure(claim, observations, along == "variant"));
    Walks walks;
    for (const Walk& walk : found)
        if (std::optional<Walk> ordered = in_claimed_order(claim, along, walk))
            walks.push_back(std::move(*ordered));
    if (!reach_all_cases(walks, found)) return std::nullopt;
    std::string listed;
    for (const std::string& name : claim.order) listed += (listed.empty() ? "" : " ≥ ") + name;
    TestOutcome outcome = walk_test(claim, along, walks, -1);
    outcome.text += "; claimed is the order " + listed;
    return outcome;
}

}  // namespace

std::optional<TestOutcome> apply_test(const Claim& claim, const Observations& observations) {
    if (claim.test == "increasing" || claim.test == "decreasing")
        return monotone_test(claim, observations);
    if (claim.test == "order") return order_test(claim, observations);
    return value_test(claim, observations);
}

namespace {

bool holds(const ClaimCheck& check) {
    return check.verdict == ClaimVerdict::supported || check.verdict == ClaimVerdict::calibrated;
}

int rank(const ClaimCheck& check) {
    if (check.verdict == ClaimVerdict::contradicted) return 0;
    if (check.verdict == ClaimVerdict::open_discrepancy) return 1;
    return holds(check) ? 2 : 3;
}

bool less_favourable(const Finding& one, const Finding& other) {
    const int a = rank(one.check), b = rank(other.check);
    if (a != b) return a < b;
    // A NaN is the least favourable of all.
    return one.slack < other.slack || (std::isnan(one.slack) && !std::isnan(other.slack));
}

std::string name(const MachineFinding& machine) {
    const std::string_view fingerprint =
        machine.hardware.empty() ? "no machine" : short_hash(machine.hardware);
    return machine.host.empty() ? std::string(fingerprint)
                                : fmt::format("{} ({})", fingerprint, machine.host);
}

std::string names(const std::vector<MachineFinding>& machines, bool that_hold) {
    std::string text;
    for (const MachineFinding& machine : machines)
        if (holds(machine.finding.check) == that_hold)
            text += (text.empty() ? "" : ", ") + name(machine);
    return text;
}

}  // namespace

const Finding& least_favourable(std::span<const Finding> findings) {
    return *std::min_element(findings.begin(), findings.end(), less_favourable);
}

ClaimCheck over_machines(std::vector<MachineFinding> findings) {
    const auto worst = std::min_element(
        findings.begin(), findings.end(),
        [](const auto& a, const auto& b) { return less_favourable(a.finding, b.finding); });
    ClaimCheck check = worst->finding.check;
    if (findings.size() == 1) return check;
    const std::string on = names(findings, true), not_on = names(findings, false);
    if (!on.empty() && !not_on.empty())
        check.reason = fmt::format("holds on {}, not on {}; on {}: {}", on, not_on, name(*worst),
                                   check.reason);
    else
        check.reason = fmt::format("{} on all {} machines ({}); on {}: {}",
                                   on.empty() ? "does not hold" : "holds", findings.size(),
                                   on.empty() ? not_on : on, name(*worst), check.reason);
    return check;
}

}  // namespace assay
