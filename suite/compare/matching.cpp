#include "suite/compare/matching.hpp"

#include <algorithm>
#include <map>

namespace assay::compare {
namespace {

using Candidates = std::vector<const Series*>;

SeriesName without_metric(SeriesName name) {
    name.metric.clear();
    return name;
}

std::map<SeriesName, Candidates> by_name(const Arm& arm) {
    std::map<SeriesName, Candidates> found;
    for (const Series& series : arm.series) found[series.name].push_back(&series);
    return found;
}

/// Takes from `candidates` the one that differs from `wanted` in the fewest context keys.
const Series* take_nearest(const Series& wanted, Candidates& candidates,
                           const std::set<std::string>& across, bool only_equal) {
    auto best = candidates.end();
    std::size_t fewest = 0;
    for (auto at = candidates.begin(); at != candidates.end(); ++at) {
        const std::size_t keys = differing_context(wanted, **at, across).size();
        if (best == candidates.end() || keys < fewest) {
            best = at;
            fewest = keys;
        }
    }
    if (best == candidates.end() || (only_equal && fewest > 0)) return nullptr;
    const Series* taken = *best;
    candidates.erase(best);
    return taken;
}

/// The series without metric of `arm` that stands for `series`; it may stand for many.
const Series* stand_in(const Series& series, std::map<SeriesName, Candidates>& arm,
                       const std::set<std::string>& across) {
    const auto found = arm.find(without_metric(series.name));
    if (found == arm.end()) return nullptr;
    Candidates copy = found->second;
    return take_nearest(series, copy, across, false);
}

}  // namespace

std::vector<std::string> differing_context(const Series& a, const Series& b,
                                           const std::set<std::string>& across) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : a.context) {
        const auto other = b.context.find(key);
        if (other != b.context.end() && other->second != value && !across.contains(key))
            keys.push_back(key);
    }
    return keys;
}

std::vector<std::string> unknown_context(const Series& series, const Series& other,
                                         const std::set<std::string>& across) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : other.context)
        if (!value.empty() && !series.context.contains(key) && !across.contains(key))
            keys.push_back(key);
    return keys;
}

std::vector<Match> match(const Arm& a, const Arm& b, const std::set<std::string>& across) {
    auto left = by_name(b);  // of B, not taken yet
    auto all_a = by_name(a), all_b = left;
    std::map<const Series*, const Series*> partner;
    for (const bool only_equal : {true, false})
        for (const Series& series : a.series) {
            const auto found = left.find(series.name);
            if (found == left.end() || partner.contains(&series)) continue;
            if (const Series* taken = take_nearest(series, found->second, across, only_equal))
                partner[&series] = taken;
        }

    std::vector<Match> matches;
    std::set<const Series*> stood_in;
    const auto stands_in = [&](const Series& series, std::map<SeriesName, Candidates>& other) {
        const Series* found =
            series.name.metric.empty() ? nullptr : stand_in(series, other, across);
        stood_in.insert(found);
        return found;
    };
    const auto add = [&](const Series* in_a, const Series* in_b) {
        matches.push_back({in_a, in_b, {}});
        if (in_a != nullptr && in_b != nullptr)
            matches.back().differs = differing_context(*in_a, *in_b, across);
    };
    for (const Series& series : a.series) {
        const auto found = partner.find(&series);
        add(&series, found != partner.end() ? found->second : stands_in(series, all_b));
    }
    std::set<const Series*> taken;
    for (const auto& [mine, theirs] : partner) taken.insert(theirs);
    for (const Series& series : b.series)
        if (!taken.contains(&series)) add(stands_in(series, all_a), &series);
    // What stood in for others needs no row of its own.
    std::erase_if(matches, [&](const Match& match) {
        return (match.b == nullptr && stood_in.contains(match.a)) ||
               (match.a == nullptr && stood_in.contains(match.b));
    });
    return matches;
}

}  // namespace assay::compare
