#include "suite/claim/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace assay {

std::optional<double> as_number(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return static_cast<double>(*integer);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    return std::nullopt;
}

namespace {

// One spelling per number, so that 4 and 4.0 fall into one case.
Value spelled_once(const Value& value) {
    const auto* number = std::get_if<double>(&value);
    if (!number || std::abs(*number) > 1e15 || std::nearbyint(*number) != *number) return value;
    return static_cast<std::int64_t>(*number);
}

Case open_case(const Claim& claim, const Observation& observation, bool variant_is_open) {
    Case at;
    const auto keep = [&](const Case& coordinates) {
        for (const auto& [name, value] : coordinates) {
            const bool fixed = claim.of.where.count(name) || claim.assumes.count(name) ||
                               (claim.over && claim.over->where.count(name));
            if (!fixed) at[name] = spelled_once(value);
        }
    };
    keep(observation.labels);
    keep(observation.axes);
    if (variant_is_open) at["variant"] = observation.variant;
    return at;
}

using BySeed = std::map<std::uint64_t, std::vector<double>>;
struct Sides {
    BySeed of, over;
};

// Of a ratio, the seed of its only pair.
std::optional<std::uint64_t> only_seed(const Sides& sides) {
    std::vector<std::uint64_t> seeds;
    for (const auto& [seed, samples] : sides.of)
        if (sides.over.empty() || sides.over.count(seed)) seeds.push_back(seed);
    if (seeds.size() != 1) return std::nullopt;
    return seeds.front();
}

// Of a side of a ratio only what the other side has too.
std::map<std::uint64_t, OfSeed> seed_by_seed(const Sides& sides, bool ratio) {
    std::map<std::uint64_t, OfSeed> seeds;
    for (const auto& [seed, samples] : sides.of) {
        const auto over = sides.over.find(seed);
        if (ratio && over == sides.over.end()) continue;
        seeds[seed] = {mean(samples), ratio ? mean(over->second) : 1};
    }
    return seeds;
}

std::vector<double> all_values(const BySeed& side) {
    std::vector<double> values;
    for (const auto& [seed, samples] : side)
        values.insert(values.end(), samples.begin(), samples.end());
    return values;
}

Measured summary(Case at, std::vector<double> values) {
    Measured measured;
    measured.at = std::move(at);
    measured.samples = values.size();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    measured.low = *low;
    measured.high = *high;
    measured.value = median(std::move(values));
    return measured;
}

Measured ratio(Case at, const Sides& sides) {
    std::vector<double> ratios, differences;
    for (const auto& [seed, samples] : sides.of) {
        const auto other = sides.over.find(seed);
        if (other == sides.over.end()) continue;
        const double of = median(samples), over = median(other->second);
        ratios.push_back(of / over);
        differences.push_back(of - over);
    }
    const bool paired = !ratios.empty();
    if (!paired) {
        const double of = median(all_values(sides.of)), over = median(all_values(sides.over));
        ratios = {of / over};
        differences = {of - over};
    }
    Measured measured = summary(std::move(at), std::move(ratios));
    measured.difference = median(std::move(differences));
    measured.paired = paired;
    return measured;
}

std::optional<Measured> measured_in(const Claim& claim, const Case& at, const Observations& set) {
    Sides sides;
    for (const Observation* observation : set) {
        const double value =
            claim.test.absolute ? std::abs(observation->value) : observation->value;
        if (selects(claim.of, *observation)) sides.of[observation->seed].push_back(value);
        if (claim.over && selects(*claim.over, *observation))
            sides.over[observation->seed].push_back(value);
    }
    if (sides.of.empty() || (claim.over && sides.over.empty())) return std::nullopt;
    Measured measured = claim.over ? ratio(at, sides) : summary(at, all_values(sides.of));
    measured.only_seed = only_seed(sides);
    measured.seeds = seed_by_seed(sides, claim.over.has_value());
    for (const Observation* observation : set) measured.origins.push_back(&observation->origin);
    return measured;
}

}  // namespace

std::vector<Observations> comparable_sets(const Observations& observations) {
    std::vector<const Origin*> origins;
    for (const Observation* observation : observations) origins.push_back(&observation->origin);
    std::vector<Observations> sets;
    for (const std::vector<std::size_t>& indexes : comparable_sets(origins)) {
        sets.emplace_back();
        for (const std::size_t i : indexes) sets.back().push_back(observations[i]);
    }
    return sets;
}

const Value* coordinate(const Observation& observation, std::string_view name) {
    if (const auto axis = observation.axes.find(name); axis != observation.axes.end())
        return &axis->second;
    if (const auto label = observation.labels.find(name); label != observation.labels.end())
        return &label->second;
    return nullptr;
}

bool same_value(const Value& a, const Value& b) {
    const auto left = as_number(a), right = as_number(b);
    if (left && right) return *left == *right;
    return a == b;
}

bool is_at(const Observation& observation, const Case& where) {
    return std::all_of(where.begin(), where.end(), [&](const auto& entry) {
        const Value* found = coordinate(observation, entry.first);
        return found && same_value(*found, entry.second);
    });
}

bool selects(const Selector& selector, const Observation& observation) {
    return (selector.variant.empty() || selector.variant == observation.variant) &&
           is_at(observation, selector.where);
}

bool is_selected(const Claim& claim, const Observation& observation) {
    const Test& test = claim.test;
    const auto is_left_out = [&](const Case& there) {
        const auto variant = there.find("variant");
        if (variant == there.end()) return is_at(observation, there);
        Case rest = there;
        rest.erase("variant");
        return variant->second == Value(observation.variant) && is_at(observation, rest);
    };
    const auto is_inside = [&](const auto& range) {
        const Value* found = coordinate(observation, range.first);
        const auto number = found ? as_number(*found) : std::nullopt;
        return number && *number >= range.second.first && *number <= range.second.second;
    };
    return (selects(claim.of, observation) || (claim.over && selects(*claim.over, observation))) &&
           std::none_of(test.except.begin(), test.except.end(), is_left_out) &&
           std::all_of(test.between.begin(), test.between.end(), is_inside) &&
           std::none_of(test.absent.begin(), test.absent.end(), [&](const std::string& name) {
               return coordinate(observation, name) != nullptr;
           });
}

double rounding(double size) { return 1e-12 * std::max(1.0, std::abs(size)); }

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
    if (values.empty() ||
        std::any_of(values.begin(), values.end(), [](double v) { return v != v; }))
        return std::numeric_limits<double>::quiet_NaN();
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    if (values.size() % 2 || values[middle - 1] == values[middle]) return values[middle];
    return (values[middle - 1] + values[middle]) / 2;
}

std::vector<Measured> measure(const Claim& claim, const Observations& observations,
                              bool walks_variants) {
    const bool variant_is_open = walks_variants || (claim.of.variant.empty() &&
                                                    (!claim.over || claim.over->variant.empty()));
    std::map<Case, Observations> cases;
    for (const Observation* observation : observations) {
        if (observation->metric == claim.metric && is_selected(claim, *observation))
            cases[open_case(claim, *observation, variant_is_open)].push_back(observation);
    }
    std::vector<Measured> measured;
    for (const auto& [at, selected] : cases)
        for (const Observations& set : comparable_sets(selected))
            if (std::optional<Measured> found = measured_in(claim, at, set))
                measured.push_back(std::move(*found));
    return measured;
}

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

namespace {

double reduced_value(const std::string& how, const std::vector<double>& values) {
    if (how == "mean") return mean(values);
    if (how == "median") return median(values);
    const bool nan = std::any_of(values.begin(), values.end(), [](double v) { return v != v; });
    if (nan) return std::numeric_limits<double>::quiet_NaN();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return how == "min" ? *low : *high;
}

bool is_there(const Case& at, const Case& there) {
    return std::all_of(there.begin(), there.end(), [&](const auto& entry) {
        const auto found = at.find(entry.first);
        return found != at.end() && same_value(found->second, entry.second);
    });
}

// Where the value is largest; of equal ones that nearest to the claim's value.
std::optional<double> place_of_largest(const Claim& claim, const std::vector<const Measured*>& set,
                                       const std::vector<double>& values) {
    const double most = reduced_value("max", values);
    std::optional<double> nearest;
    for (std::size_t i = 0; i < set.size(); ++i) {
        const auto at = set[i]->at.find(claim.test.along);
        const auto place = at == set[i]->at.end() ? std::nullopt : as_number(at->second);
        if (!place || !(values[i] >= most - rounding(most))) continue;
        const auto off = [&](double where) {
            return std::abs(where - claim.value.value_or(where));
        };
        if (!nearest || off(*place) < off(*nearest)) nearest = place;
    }
    return nearest;
}

// Each seed that all of them have, reduced by itself.
std::map<std::uint64_t, OfSeed> reduced_seeds(const Claim& claim,
                                              const std::vector<const Measured*>& set) {
    const Test& test = claim.test;
    std::map<std::uint64_t, OfSeed> seeds;
    for (const auto& [seed, first] : set.front()->seeds) {
        std::vector<double> values;
        for (const Measured* point : set)
            if (const auto found = point->seeds.find(seed); found != point->seeds.end())
                values.push_back(found->second.ratio());
        if (values.size() < set.size()) continue;
        if (test.reduce != "argmax") {
            seeds[seed] = {reduced_value(test.reduce, values), 1};
        } else if (const auto place = place_of_largest(claim, set, values)) {
            seeds[seed] = {*place, 1};
        }
    }
    return seeds;
}

// Nothing: no case lies where the extreme should.
std::optional<double> misplaced(const Test& test, const std::vector<const Measured*>& set,
                                double extreme) {
    std::optional<double> least;
    for (const Measured* point : set)
        if (is_there(point->at, test.extreme_at)) {
            const double away = std::abs(point->value - extreme);
            least = std::min(least.value_or(away), away);
        }
    if (least && *least <= rounding(extreme)) least = 0;
    return least;
}

// Nothing where the extreme should lie at a case that is not there.
std::optional<Measured> reduction(const Claim& claim, const std::vector<const Measured*>& set) {
    const Test& test = claim.test;
    std::vector<double> values;
    for (const Measured* point : set) values.push_back(point->value);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    Measured all;
    all.low = *low;
    all.high = *high;
    all.samples = set.size();
    all.seeds = reduced_seeds(claim, set);
    all.only_seed = set.front()->only_seed;
    for (const Measured* point : set) {
        all.origins.insert(all.origins.end(), point->origins.begin(), point->origins.end());
        all.paired = all.paired && point->paired;
        if (point->only_seed != all.only_seed) all.only_seed.reset();
    }
    if (test.reduce == "argmax") {
        const auto place = place_of_largest(claim, set, values);
        if (!place) return std::nullopt;
        all.value = *place;
        all.reduced = fmt::format("{} of the largest of {} cases", test.along, set.size());
        return all;
    }
    all.value = reduced_value(test.reduce, values);
    all.difference = all.value - 1;
    all.reduced = fmt::format("{} of {} cases", test.reduce, set.size());
    if (test.reduce != "max" && test.reduce != "min") return all;
    for (const Measured* point : set)
        if (point->value == all.value) all.at = point->at;
    if (test.extreme_at.empty()) return all;
    const auto away = misplaced(test, set, all.value);
    if (!away) return std::nullopt;
    all.misplaced = *away;
    return all;
}

}  // namespace

std::vector<Measured> reduced(const Claim& claim, const std::vector<Measured>& points) {
    std::set<Case> cases;
    std::vector<const Measured*> all;
    for (const Measured& point : points) {
        cases.insert(point.at);
        all.push_back(&point);
    }
    std::vector<Measured> found;
    for (const std::vector<const Measured*>& set : comparable(all)) {
        std::set<Case> own;
        for (const Measured* point : set) own.insert(point->at);
        if (own.size() < cases.size()) continue;
        if (std::optional<Measured> one = reduction(claim, set)) found.push_back(std::move(*one));
    }
    return found;
}

}  // namespace assay
