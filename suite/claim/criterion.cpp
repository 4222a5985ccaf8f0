#include "suite/claim/criterion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "suite/claim/equal_metric.hpp"
#include "suite/claim/tolerance.hpp"

namespace assay {
namespace {

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
    const std::string text =
        (claim.test.absolute ? "|" + claim.metric + "|" : claim.metric) + side(claim.of, at);
    return claim.over ? text + " over that" + side(*claim.over, {}) : text;
}

// What is exact is the same for every seed that it does not name; anything else may differ from
// seed to seed, and one seed does not show how much.
std::string samples(const Measured& point, bool ratio, bool exact) {
    const bool one_seed = point.only_seed && !exact;
    const std::string alone =
        one_seed ? fmt::format(", seed {} alone: a point, no interval", *point.only_seed) : "";
    if (!point.reduced.empty())
        return fmt::format("{}, {} … {}{}", point.reduced, number(point.low), number(point.high),
                           alone);
    if (ratio && !point.paired) return "ratio of medians, no common seeds";
    const std::string what = ratio ? "pair" : "sample";
    if (point.samples == 1) return "1 " + what + alone;
    return fmt::format("median of {} {}s, {} … {}{}", point.samples, what, number(point.low),
                       number(point.high),
                       one_seed ? fmt::format(", all of seed {}", *point.only_seed) : "");
}

std::string over_seeds(const SeedInterval& found, std::size_t wanted, bool ratio) {
    std::string text =
        found.seeds > 1
            ? fmt::format("{} to {}, 95 % over {} seeds{}", number(found.low), number(found.high),
                          found.seeds, ratio ? " in pairs" : "")
            : fmt::format("{} seed{}", found.seeds, found.seeds == 1 ? "" : "s in common");
    if (found.few) text += fmt::format("; {} are wanted", wanted);
    return text;
}

std::optional<TestOutcome> worst_of(const std::vector<TestOutcome>& all) {
    if (all.empty()) return std::nullopt;
    return *std::min_element(all.begin(), all.end(), less_favourable);
}

// How far the point is from failing; it holds when this is not negative.
double plain_slack(const Claim& claim, const Measured& point) {
    if (point.misplaced > 0) return -point.misplaced;
    const Bounds bounds = bounds_of(claim);
    if (!bounds.strictly) return std::min(point.value - bounds.low, bounds.high - point.value);
    const double above = claim.value ? point.value - *claim.value : point.difference;
    return above > rounding(claim.value.value_or(0)) ? above : -1 - std::abs(above);
}

// Whether a ratio has positive sides at every seed, so that its logarithm says as much of either.
bool has_positive_sides(const Claim& claim, const Measured& point) {
    const auto positive = [](const auto& one) { return one.second.of > 0 && one.second.over > 0; };
    return claim.over && std::all_of(point.seeds.begin(), point.seeds.end(), positive);
}

SeedRange median_range_of(const Claim& claim, const Measured& point) {
    std::vector<double> values;
    for (const auto& [seed, one] : point.seeds) values.push_back(one.ratio());
    return median_range(values, has_positive_sides(claim, point));
}

TestOutcome plain(const Claim& claim, const Measured& point, bool exact) {
    TestOutcome outcome;
    outcome.slack = plain_slack(claim, point);
    outcome.standing = outcome.slack >= 0 ? Standing::holds : Standing::fails;
    outcome.obtained = point.value;
    if (!exact) outcome.seeds = median_range_of(claim, point);
    outcome.text = fmt::format("{} is {} ({})", quantity(claim, point.at), number(point.value),
                               samples(point, claim.over.has_value(), exact));
    if (point.misplaced > 0)
        outcome.text += fmt::format(", not at {}", to_string(claim.test.extreme_at));
    return outcome;
}

struct SeedResult {
    SeedInterval interval;
    double mean, low, high;  ///< in the claim's unit
};

// A ratio by its logarithm where both sides are positive; else by the difference of one side and
// as much of the other as the bound asks for.
SeedResult over_seeds_of(const Claim& claim, const Measured& point, std::size_t points) {
    Bounds bounds = bounds_of(claim);
    SeedValues values;
    const bool logarithms = has_positive_sides(claim, point);
    for (const auto& [seed, one] : point.seeds)
        values.add(logarithms ? std::log(one.ratio()) : one.ratio());
    if (!logarithms && claim.over && bounds.strictly) {
        values = {};
        for (const auto& [seed, one] : point.seeds) values.add(one.of - bounds.low * one.over);
        bounds.low = 0;
    }
    if (!logarithms) {
        const SeedInterval found = seed_interval(values, bounds, claim.test.seeds, points);
        return {found, found.mean, found.low, found.high};
    }
    bounds.low = bounds.low > 0 ? std::log(bounds.low) : -std::numeric_limits<double>::infinity();
    bounds.high =
        bounds.high > 0 ? std::log(bounds.high) : -std::numeric_limits<double>::infinity();
    const SeedInterval found = seed_interval(values, bounds, claim.test.seeds, points);
    return {found, std::exp(found.mean), std::exp(found.low), std::exp(found.high)};
}

// As a claim's check tells it: ends that are not known are left out.
SeedRange told(const SeedInterval& interval, double low, double high) {
    SeedRange range{.seeds = interval.seeds};
    if (std::isfinite(low)) range.low = low;
    if (std::isfinite(high)) range.high = high;
    return range;
}

TestOutcome clearly(const Claim& claim, const Measured& point, std::size_t points) {
    SeedResult found = over_seeds_of(claim, point, points);
    TestOutcome outcome;
    outcome.standing = found.interval.standing;
    outcome.slack = found.interval.slack;
    if (found.interval.seeds > 0) outcome.obtained = found.mean;
    outcome.seeds = told(found.interval, found.low, found.high);
    found.interval.low = found.low;
    found.interval.high = found.high;
    outcome.text =
        fmt::format("{} is {} ({}{})", quantity(claim, point.at), number(found.mean),
                    point.reduced.empty() ? "" : point.reduced + "; ",
                    over_seeds(found.interval, claim.test.seeds, claim.over.has_value()));
    return outcome;
}

std::optional<TestOutcome> value_test(const Claim& claim, const Observations& observations) {
    std::vector<Measured> points = measure(claim, observations, false);
    std::set<Case> cases;
    for (const Measured& point : points) cases.insert(point.at);
    if (cases.size() < claim.test.cases) return std::nullopt;
    if (!claim.test.reduce.empty()) points = reduced(claim, points);
    const bool exact =
        !observations.empty() && observations.front()->provenance == Provenance::exact;
    std::vector<TestOutcome> outcomes;
    for (const Measured& point : points)
        outcomes.push_back(claim.test.clearly ? clearly(claim, point, points.size())
                                              : plain(claim, point, exact));
    std::optional<TestOutcome> outcome = worst_of(outcomes);
    if (!outcome) return std::nullopt;
    outcome->text += "; claimed is " + wanted_text(claim);
    if (points.size() > 1)
        outcome->text += fmt::format(" (the least favourable of {} cases)", points.size());
    return outcome;
}

bool comes_before(const Value& a, const Value& b) {
    const auto rank = [](const Value& value) -> std::pair<int, double> {
        const auto found = as_number(value);
        return {found ? 0 : 1, found.value_or(0)};
    };
    const auto left = rank(a), right = rank(b);
    if (left != right || left.first == 0) return left < right;
    return std::get<std::string>(a) < std::get<std::string>(b);
}

struct Step {
    Value where;
    const Measured* point;
};
struct Walk {
    Case rest;  ///< where it is taken
    std::vector<Step> steps;
};
using Walks = std::vector<Walk>;

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
                walks.back().steps.push_back({point->at.at(along), point});
        }
    for (auto& [rest, walk] : walks)
        std::sort(walk.begin(), walk.end(),
                  [](const Step& a, const Step& b) { return comes_before(a.where, b.where); });
    return walks;
}

// From one place of a walk to another. `ends`: from the first to the last, which must differ.
struct Change {
    const Walk* walk;
    const Step *from, *to;
    bool ends = false;
};

std::vector<Change> changes_of(const Walks& walks) {
    std::vector<Change> changes;
    for (const Walk& walk : walks) {
        for (std::size_t i = 1; i < walk.steps.size(); ++i)
            changes.push_back({&walk, &walk.steps[i - 1], &walk.steps[i]});
        if (walk.steps.size() > 2)
            changes.push_back({&walk, &walk.steps.front(), &walk.steps.back(), true});
        else
            changes.back().ends = true;
    }
    return changes;
}

// A walk's direction: +1, values must not fall from step to step; −1, they must not rise.
struct Direction {
    std::string along;
    int sign;
};

TestOutcome plain_change(const Change& change, int sign, double margin) {
    const double from = change.from->point->value, to = change.to->point->value;
    const double rise = sign * (to - from);
    const bool holds = change.ends ? rise > rounding(from) : rise + margin >= -rounding(from);
    const double slack = change.ends ? rise - rounding(from) : rise + margin;
    return {holds ? Standing::holds : Standing::fails, slack, to - from, ""};
}

// Without a margin a step must clearly go its way.
TestOutcome clear_change(const Claim& claim, const Change& change, int sign, double margin,
                         std::size_t changes) {
    SeedValues values;
    const auto& later = change.to->point->seeds;
    for (const auto& [seed, before] : change.from->point->seeds)
        if (const auto after = later.find(seed); after != later.end())
            values.add(sign * (after->second.ratio() - before.ratio()));
    SeedInterval found =
        seed_interval(values, {.low = -margin, .strictly = margin == 0}, claim.test.seeds, changes);
    TestOutcome outcome{found.standing, found.slack, std::nullopt, ""};
    if (found.seeds > 0) outcome.obtained = sign * found.mean;
    std::tie(found.low, found.high) = std::minmax({sign * found.low, sign * found.high});
    outcome.seeds = told(found, found.low, found.high);
    outcome.text = fmt::format(", by {} ({})", number(sign * found.mean),
                               over_seeds(found, claim.test.seeds, true));
    return outcome;
}

TestOutcome walk_test(const Claim& claim, const Direction& direction, const Walks& walks) {
    const auto text = [&](const Step& step) {
        return number(step.point->value) + " (" + direction.along + '=' + to_string(step.where) +
               ')';
    };
    const std::vector<Change> changes = changes_of(walks);
    std::vector<TestOutcome> outcomes;
    for (const Change& change : changes) {
        const double size = std::abs(change.from->point->value);
        const double margin =
            change.ends ? 0
                        : std::max(claim.absolute.value_or(0), claim.relative.value_or(0) * size);
        TestOutcome one = claim.test.clearly
                              ? clear_change(claim, change, direction.sign, margin, changes.size())
                              : plain_change(change, direction.sign, margin);
        one.text = fmt::format("{} goes from {} to {}{}", quantity(claim, change.walk->rest),
                               text(*change.from), text(*change.to), one.text);
        outcomes.push_back(std::move(one));
    }
    TestOutcome outcome = *worst_of(outcomes);
    if (walks.size() > 1)
        outcome.text += outcome.standing == Standing::holds
                            ? fmt::format(", alike in all {} cases", walks.size())
                            : fmt::format(" in one of {} cases", walks.size());
    return outcome;
}

// Whether each case has a complete walk. Other walks of the same case may be pieces, where a part
// of it was made anew under another calibration or other data.
bool reach_all_cases(const Claim& claim, const Walks& complete, const Walks& found) {
    std::set<Case> reached;
    for (const Walk& walk : complete) reached.insert(walk.rest);
    return !found.empty() && reached.size() >= claim.test.cases &&
           std::all_of(found.begin(), found.end(),
                       [&](const Walk& walk) { return reached.contains(walk.rest); });
}

std::optional<TestOutcome> monotone_test(const Claim& claim, const Observations& observations) {
    const std::vector<Measured> points = measure(claim, observations, false);
    const Walks found = walks_along(claim.test.along, points);
    Walks walks;
    std::copy_if(found.begin(), found.end(), std::back_inserter(walks),
                 [](const Walk& walk) { return walk.steps.size() >= 2; });
    if (!reach_all_cases(claim, walks, found)) return std::nullopt;
    TestOutcome outcome =
        walk_test(claim, {claim.test.along, claim.test.name == "increasing" ? 1 : -1}, walks);
    outcome.text +=
        fmt::format("; claimed is that it is {} along {}", claim.test.name, claim.test.along);
    return outcome;
}

// The steps that the claim orders, from largest to smallest; nothing where one is missing.
std::optional<Walk> in_claimed_order(const Claim& claim, const std::string& along,
                                     const Walk& found) {
    Walk walk{found.rest, {}};
    for (const std::string& name : claim.test.order) {
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
    const std::string along = claim.test.along.empty() ? "variant" : claim.test.along;
    const std::vector<Measured> points = measure(claim, observations, along == "variant");
    const Walks found = walks_along(along, points);
    Walks walks;
    for (const Walk& walk : found)
        if (std::optional<Walk> ordered = in_claimed_order(claim, along, walk))
            walks.push_back(std::move(*ordered));
    if (!reach_all_cases(claim, walks, found)) return std::nullopt;
    std::string listed;
    for (const std::string& name : claim.test.order) listed += (listed.empty() ? "" : " ≥ ") + name;
    TestOutcome outcome = walk_test(claim, {along, -1}, walks);
    outcome.text += "; claimed is the order " + listed;
    return outcome;
}

struct EqualResult {
    Case at;
    SeedInterval interval;
};

// Points of which one end is unknown, and the other decides nothing, are left out; where a case has
// only such, nothing is said.
std::vector<EqualResult> compared_at_equal(const Claim& claim,
                                           const std::vector<EqualPoint>& points) {
    Bounds bounds = bounds_of(claim);
    bounds.low = bounds.low > 0 ? std::log(bounds.low) : -std::numeric_limits<double>::infinity();
    bounds.high = std::log(bounds.high);
    std::vector<EqualResult> told;
    std::map<Case, bool> says;
    for (const std::size_t round : {0, 1}) {  // first how many there are, then corrected for that
        const std::size_t correct_for = round == 0 ? 1 : told.size();
        told.clear();
        for (const EqualPoint& point : points) {
            Case rest = point.at;
            rest.erase(claim.test.along);
            const SeedInterval found =
                seed_interval(point.log_ratio, bounds, claim.test.seeds, correct_for);
            says[rest] |= !found.open;
            if (!found.open) told.push_back({point.at, found});
        }
    }
    if (std::any_of(says.begin(), says.end(), [](const auto& one) { return !one.second; }))
        told.clear();
    return told;
}

std::optional<TestOutcome> equal_test_in(const Claim& claim, const Observations& set) {
    const std::vector<EqualPoint> points = at_equal(claim, set);
    const std::vector<EqualResult> results = compared_at_equal(claim, points);
    if (results.empty()) return std::nullopt;
    std::vector<TestOutcome> outcomes;
    for (const auto& [at, interval] : results) {
        SeedInterval ratio = interval;
        ratio.low = std::exp(interval.low);
        ratio.high = std::exp(interval.high);
        const double obtained = std::exp(interval.mean);
        outcomes.push_back(
            {interval.standing, interval.slack, obtained,
             fmt::format("at equal {} {} is {} ({})", claim.test.equal, quantity(claim, at),
                         number(obtained), over_seeds(ratio, claim.test.seeds, true)),
             told(ratio, ratio.low, ratio.high)});
    }
    TestOutcome outcome = *worst_of(outcomes);
    outcome.text += fmt::format(
        "; claimed is {} (the least favourable of {} points of {}, interpolated or bounded by "
        "monotony)",
        wanted_text(claim), results.size(), points.size());
    return outcome;
}

std::optional<TestOutcome> equal_test(const Claim& claim, const Observations& observations) {
    Observations selected;
    for (const Observation* observation : observations)
        if (observation->metric == claim.metric || observation->metric == claim.test.equal)
            selected.push_back(observation);
    std::vector<TestOutcome> outcomes;
    for (const Observations& set : comparable_sets(selected))
        if (std::optional<TestOutcome> outcome = equal_test_in(claim, set))
            outcomes.push_back(std::move(*outcome));
    return worst_of(outcomes);
}

}  // namespace

bool less_favourable(const TestOutcome& one, const TestOutcome& other) {
    if (one.standing != other.standing) return one.standing < other.standing;
    return one.slack < other.slack || (std::isnan(one.slack) && !std::isnan(other.slack));
}

std::optional<TestOutcome> apply_test(const Claim& claim, const Observations& observations) {
    if (claim.test.name == "order") return order_test(claim, observations);
    if (claim.test.walks()) return monotone_test(claim, observations);
    if (!claim.test.equal.empty()) return equal_test(claim, observations);
    return value_test(claim, observations);
}

bool may_support(const Claim& claim, const Explanation& explained) {
    Bounds bounds;
    const double step = claim.absolute.value_or(0);
    if (claim.test.name == "increasing")
        bounds.low = -step;
    else if (claim.test.walks())
        bounds.high = step;
    else
        bounds = bounds_of(claim);
    const double low = explained.obtained - explained.within,
                 high = explained.obtained + explained.within;
    return high >= bounds.low && low <= bounds.high;
}

}  // namespace assay
