#include "suite/claim/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

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

bool selects(const Selector& selector, const Observation& observation) {
    return (selector.variant.empty() || selector.variant == observation.variant) &&
           is_at(observation, selector.where);
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
        if (selects(claim.of, *observation))
            sides.of[observation->seed].push_back(observation->value);
        if (claim.over && selects(*claim.over, *observation))
            sides.over[observation->seed].push_back(observation->value);
    }
    if (sides.of.empty() || (claim.over && sides.over.empty())) return std::nullopt;
    Measured measured = claim.over ? ratio(at, sides) : summary(at, all_values(sides.of));
    measured.only_seed = only_seed(sides);
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
        if (observation->metric != claim.metric) continue;
        if (selects(claim.of, *observation) || (claim.over && selects(*claim.over, *observation)))
            cases[open_case(claim, *observation, variant_is_open)].push_back(observation);
    }
    std::vector<Measured> measured;
    for (const auto& [at, selected] : cases)
        for (const Observations& set : comparable_sets(selected))
            if (std::optional<Measured> found = measured_in(claim, at, set))
                measured.push_back(std::move(*found));
    return measured;
}

}  // namespace assay
