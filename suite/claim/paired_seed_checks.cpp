#include "suite/claim/paired_seed_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "suite/claim/quantity.hpp"
#include "suite/measure/statistics/mean_interval.hpp"

namespace assay::claims {

ClaimCheck not_run_yet(const Claim& claim, const std::string& what_is_missing) {
    ClaimCheck check;
    check.claim = claim.id;
    check.verdict = ClaimVerdict::not_run;
    check.reason = fmt::format("run `assay run {}` first: {}", claim.experiment, what_is_missing);
    return check;
}

ClaimCheck verdict_of(const Claim& claim, bool holds, double obtained, std::string reason) {
    ClaimCheck check;
    check.claim = claim.id;
    check.verdict = holds ? ClaimVerdict::supported : ClaimVerdict::contradicted;
    check.obtained = obtained;
    check.reason = std::move(reason);
    return check;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Standing standing_at_most(const statistics::MeanInterval& at, double most) {
    return {at.high <= most  ? Outcome::holds
            : at.low <= most ? Outcome::spans
                             : Outcome::fails,
            -at.high};
}

bool selects(const Selector& selector, const Observation& observation) {
    return (selector.variant.empty() || selector.variant == observation.variant) &&
           is_at(observation, selector.where);
}

namespace {

/// A seed that was run twice is one seed: its values are averaged.
using BySeed = std::map<std::uint64_t, std::vector<double>>;
struct Sides {
    BySeed of, over;
};

std::map<Case, Sides> sides_of(const Claim& claim, std::span<const Observation> observations) {
    std::map<Case, Sides> found;
    for (const Observation& o : observations) {
        if (o.metric != claim.metric) continue;
        const bool of = selects(claim.of, o), over = selects(*claim.over, o);
        if (!of && !over) continue;
        Case open = o.axes;
        for (const auto* fixed : {&claim.of.where, &claim.over->where})
            for (const auto& [name, value] : *fixed) open.erase(name);
        if (of) found[open].of[o.seed].push_back(o.value);
        if (over) found[open].over[o.seed].push_back(o.value);
    }
    return found;
}

struct Comparison {
    Case at;
    double ratio = 0;                     ///< of the means; infinite where the other side is 0
    statistics::MeanInterval difference;  ///< of − least · over
    std::size_t seeds = 0;
};

/// The difference must lie above 0.
Standing standing_of(const Comparison& one) {
    const auto& [mean, low, high] = one.difference;
    return {high <= 0 ? Outcome::fails : low <= 0 ? Outcome::spans : Outcome::holds, low};
}

std::optional<Comparison> compare(const Case& at, const Sides& sides, double least) {
    std::vector<double> of, over, differences;
    for (const auto& [seed, values] : sides.of) {
        const auto other = sides.over.find(seed);
        if (other == sides.over.end()) continue;
        of.push_back(mean_of(values));
        over.push_back(mean_of(other->second));
        differences.push_back(of.back() - least * over.back());
    }
    const auto interval = statistics::mean_interval(differences);
    if (!interval) return std::nullopt;
    const double below = mean_of(over);
    return Comparison{at,
                      below != 0 ? mean_of(of) / below : std::numeric_limits<double>::infinity(),
                      *interval, differences.size()};
}

}  // namespace

ClaimCheck clearly_greater(const Claim& claim, std::span<const Observation> observations) {
    if (!claim.over) throw std::logic_error(claim.id + ": clearly_greater compares two sides");
    const double least = claim.value.value_or(1);
    std::optional<Comparison> worst;
    for (const auto& [at, sides] : sides_of(claim, observations)) {
        const auto here = compare(at, sides, least);
        if (!here) return not_run_yet(claim, "an interval needs two seeds of both sides");
        if (!worst || standing_of(*here) < standing_of(*worst)) worst = here;
    }
    if (!worst) return not_run_yet(claim, "one side has not been measured yet");
    const auto& [mean, low, high] = worst->difference;
    auto check = verdict_of(
        claim, low > 0, worst->ratio,
        fmt::format("{} is {:.4g} times that of the other side{}{}; less {:.4g} times that it is "
                    "{:.4g} ({:.4g} to {:.4g}, 95 %, {} seeds in pairs)",
                    claim.metric, worst->ratio, worst->at.empty() ? "" : " at ",
                    to_string(worst->at), least, mean, low, high, worst->seeds));
    if (low <= 0 && high > 0) {
        check.verdict = ClaimVerdict::open_discrepancy;
        check.reason += "; interval spans the margin";
    }
    return check;
}

namespace {

enum class Bound { at_least, at_most };

/// Seed by seed: what is bounded, in each case.
std::map<Case, std::vector<double>> bounded_values(const Claim& claim,
                                                   std::span<const Observation> observations) {
    std::map<Case, std::vector<double>> cases;
    if (claim.over) {
        for (const auto& [at, sides] : sides_of(claim, observations)) {
            std::vector<double>& ratios = cases[at];
            for (const auto& [seed, values] : sides.of)
                if (const auto other = sides.over.find(seed); other != sides.over.end())
                    ratios.push_back(mean_of(values) / mean_of(other->second));
        }
        return cases;
    }
    std::map<Case, BySeed> by_seed;
    for (const Observation& o : observations)
        if (o.metric == claim.metric && selects(claim.of, o)) {
            Case open = o.axes;
            for (const auto& [name, value] : claim.of.where) open.erase(name);
            by_seed[open][o.seed].push_back(o.value);
        }
    for (const auto& [at, seeds] : by_seed)
        for (const auto& [seed, values] : seeds) cases[at].push_back(mean_of(values));
    return cases;
}

/// Obtained: the mean of the case that speaks least for the claim.
ClaimCheck clearly_bounded(const Claim& claim, std::span<const Observation> observations,
                           Bound bound) {
    // What is at least a bound is negated.
    const double sign = bound == Bound::at_most ? 1 : -1, most = sign * claim.value.value_or(0);
    std::optional<statistics::MeanInterval> worst;
    Case where;
    for (auto& [at, values] : bounded_values(claim, observations)) {
        for (double& value : values) value *= sign;
        if (std::any_of(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }))
            return not_run_yet(claim, "the other side of a ratio is 0");
        const auto here = statistics::mean_interval(values);
        if (!here)
            return not_run_yet(claim, claim.over ? "an interval needs two seeds of both sides"
                                                 : "an interval needs two seeds");
        if (worst && !(standing_at_most(*here, most) < standing_at_most(*worst, most))) continue;
        worst = here;
        where = at;
    }
    if (!worst) return not_run_yet(claim, "nothing has been measured");
    if (!claim.value) throw std::logic_error(claim.id + ": a bound needs a value");
    const auto [low, high] = std::minmax({sign * worst->low, sign * worst->high});
    auto check = verdict_of(
        claim, worst->high <= most, sign * worst->mean,
        fmt::format("{}{} is {:.4g} ({:.4g} to {:.4g}, 95 % over seeds{}){}{}; at {} {:.4g} is "
                    "claimed",
                    claim.metric, claim.over ? " over the other side" : "", sign * worst->mean, low,
                    high, claim.over ? " in pairs" : "", where.empty() ? "" : " at ",
                    to_string(where), bound == Bound::at_most ? "most" : "least", *claim.value));
    if (standing_at_most(*worst, most).outcome == Outcome::spans) {
        check.verdict = ClaimVerdict::open_discrepancy;
        check.reason += "; interval spans the margin";
    }
    return check;
}

}  // namespace

ClaimCheck clearly_at_most(const Claim& claim, std::span<const Observation> observations) {
    return clearly_bounded(claim, observations, Bound::at_most);
}

ClaimCheck clearly_at_least(const Claim& claim, std::span<const Observation> observations) {
    return clearly_bounded(claim, observations, Bound::at_least);
}

ClaimCheck clearly_increasing(const Claim& claim, std::span<const Observation> observations) {
    if (claim.along.empty() || claim.over)
        throw std::logic_error(claim.id + ": clearly_increasing needs an axis and has one side");
    std::map<Case, std::map<double, BySeed>> walks;
    for (const Observation& o : observations) {
        const Value* const at = coordinate(o, claim.along);
        const auto number = at ? as_number(*at) : std::nullopt;
        if (o.metric != claim.metric || !selects(claim.of, o) || !number) continue;
        Case open = o.axes;
        open.erase(claim.along);
        for (const auto& [name, value] : claim.of.where) open.erase(name);
        walks[open][*number][o.seed].push_back(o.value);
    }
    std::optional<Comparison> worst;
    std::pair<double, double> step;
    for (const auto& [at, walk] : walks) {
        if (walk.size() < 2) return not_run_yet(claim, "there is nothing to rise from");
        for (auto from = walk.begin(), to = std::next(from); to != walk.end(); ++from, ++to) {
            const auto here = compare(at, {to->second, from->second}, 1);
            if (!here) return not_run_yet(claim, "an interval needs two seeds of each step");
            if (worst && !(standing_of(*here) < standing_of(*worst))) continue;
            worst = here;
            step = {from->first, to->first};
        }
    }
    if (!worst) return not_run_yet(claim, "nothing has been measured");
    const auto& [mean, low, high] = worst->difference;
    auto check = verdict_of(
        claim, low > 0, mean,
        fmt::format("{} rises least from {} {:.4g} to {:.4g}{}{}: by {:.4g} ({:.4g} to {:.4g}, "
                    "95 %, {} seeds in pairs)",
                    claim.metric, claim.along, step.first, step.second,
                    worst->at.empty() ? "" : " at ", to_string(worst->at), mean, low, high,
                    worst->seeds));
    if (standing_of(*worst).outcome == Outcome::spans) {
        check.verdict = ClaimVerdict::open_discrepancy;
        check.reason += "; interval spans the margin";
    }
    return check;
}

}  // namespace assay::claims
