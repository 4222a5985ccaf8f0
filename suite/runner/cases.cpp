#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/base/quantity_text.hpp"
#include "suite/runner/plan.hpp"

namespace assay::runner {
namespace {

bool same(const Value& a, const Value& b) {
    const auto number = [](const Value& value) -> std::optional<double> {
        if (const auto* whole = std::get_if<std::int64_t>(&value))
            return static_cast<double>(*whole);
        if (const auto* real = std::get_if<double>(&value)) return *real;
        return std::nullopt;
    };
    const auto left = number(a);
    const auto right = number(b);
    if (left && right) return *left == *right;
    return to_string(a) == to_string(b);
}

/// A typed value takes the type of the axis' declared values: `-a rate=1` on an axis of doubles
/// is 1.0, `-a nodes=1e3` on one of integers 1000.
Value as_declared(const Value& typed, const std::vector<Value>& declared) {
    if (declared.empty()) return typed;
    const auto holds = [&](auto tag) {
        using T = decltype(tag);
        return std::all_of(declared.begin(), declared.end(),
                           [](const Value& value) { return std::holds_alternative<T>(value); });
    };
    if (holds(std::string{})) return to_string(typed);
    if (const auto* whole = std::get_if<std::int64_t>(&typed); whole && holds(double{}))
        return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&typed); real && holds(std::int64_t{}))
        if (const auto whole = whole_number(*real)) return *whole;
    return typed;
}

const std::vector<Value>& default_sweep(const Axis& axis, const ProfilePlan& profile) {
    const auto it = profile.axes.find(axis.name);
    return it == profile.axes.end() ? axis.values : it->second;
}

std::vector<Value> narrowed(const Experiment& experiment, const Axis& axis,
                            const ProfilePlan& profile, const std::vector<Value>& typed) {
    std::vector<Value> known = default_sweep(axis, profile);
    known.insert(known.end(), axis.values.begin(), axis.values.end());
    std::vector<Value> chosen;
    for (const Value& value : typed) {
        const auto it = std::find_if(known.begin(), known.end(), [&](const Value& candidate) {
            return same(candidate, value);
        });
        if (it == known.end() && !axis.open) {
            std::vector<std::string> names;
            for (const Value& candidate : known)
                if (std::find(names.begin(), names.end(), to_string(candidate)) == names.end())
                    names.push_back(to_string(candidate));
            throw UserError(fmt::format("{} has no value '{}' on axis '{}'; its values: {}",
                                        experiment.id, to_string(value), axis.name,
                                        fmt::join(names, ", ")));
        }
        const Value wanted = it != known.end() ? *it : as_declared(value, known);
        if (std::none_of(chosen.begin(), chosen.end(),
                         [&](const Value& other) { return same(other, wanted); }))
            chosen.push_back(wanted);
    }
    return chosen;
}

}  // namespace

std::vector<Case> cases(const Experiment& experiment, const ProfilePlan& profile,
                        const std::map<std::string, std::vector<Value>>& narrowing) {
    std::vector<Case> result{Case{}};
    for (const Axis& axis : experiment.axes) {
        const auto it = narrowing.find(axis.name);
        const Value* const unnamed = unnamed_value(axis, profile);
        if (unnamed && it == narrowing.end()) continue;
        const std::vector<Value> values = it == narrowing.end()
                                              ? default_sweep(axis, profile)
                                              : narrowed(experiment, axis, profile, it->second);
        if (values.empty())
            throw UserError(fmt::format("{}: axis '{}' has no values; give some with -a {}=VALUE",
                                        experiment.id, axis.name, axis.name));
        if (result.size() * values.size() > max_cases)
            throw UserError(fmt::format("{}: more than {} cases; narrow the axes with -a",
                                        experiment.id, max_cases));
        std::vector<Case> wider;
        wider.reserve(result.size() * values.size());
        for (const Case& base : result)
            for (const Value& value : values) {
                wider.push_back(base);
                if (!unnamed || !same(value, *unnamed)) wider.back().emplace(axis.name, value);
            }
        result = std::move(wider);
    }
    return result;
}

}  // namespace assay::runner
