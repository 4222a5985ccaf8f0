#include "suite/compare/matching.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "suite/measure/environment.hpp"

namespace assay::compare {
namespace {

using Candidates = std::vector<const Series*>;

/// The series of an arm by what pairs them up.
class ByName {
  public:
    ByName(const Arm& arm, bool whole_ids) : whole_ids_(whole_ids) {
        for (const Series& series : arm.series) found_[key(series.name)].push_back(&series);
    }

    /// Those that `name` calls; null: none.
    Candidates* find(const RowId& name) {
        const auto found = found_.find(key(name));
        return found == found_.end() ? nullptr : &found->second;
    }

  private:
    RowId key(const RowId& name) const { return whole_ids_ ? name : name.without_context(); }

    bool whole_ids_;
    std::map<RowId, Candidates> found_;
};

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
const Series* stand_in(const Series& series, ByName& arm, const std::set<std::string>& across) {
    const Candidates* found = arm.find(series.name.series());
    if (found == nullptr) return nullptr;
    Candidates copy = *found;
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

std::vector<Difference> differences(const Series& a, const Series& b,
                                    const std::set<std::string>& across) {
    const auto said = [](const std::string& value) { return value.empty() ? "none" : value; };
    std::vector<Difference> all;
    for (std::string& key : differing_context(a, b, across)) {
        std::vector<measure::HardwareDifference> parts;
        if (key == "hardware" && a.hardware && b.hardware)
            parts = measure::hardware_differences(*a.hardware, *b.hardware);
        for (auto& [name, in_a, in_b] : parts)
            all.push_back({key, std::move(name), std::move(in_a), std::move(in_b)});
        if (parts.empty())
            all.push_back({key, "", said(a.context.at(key)), said(b.context.at(key))});
    }
    return all;
}

std::vector<std::string> unknown_context(const Series& series, const Series& other,
                                         const std::set<std::string>& across) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : other.context)
        if (!value.empty() && !series.context.contains(key) && !across.contains(key))
            keys.push_back(key);
    return keys;
}

std::vector<Match> match(const Arm& a, const Arm& b, const Options& options) {
    const std::set<std::string>& across = options.across;
    ByName left(b, options.whole_ids);  // of B, not taken yet
    ByName all_a(a, options.whole_ids), all_b = left;
    std::map<const Series*, const Series*> partner;
    for (const bool only_equal : {true, false})
        for (const Series& series : a.series) {
            Candidates* found = left.find(series.name);
            if (found == nullptr || partner.contains(&series)) continue;
            if (const Series* taken = take_nearest(series, *found, across, only_equal))
                partner[&series] = taken;
        }

    std::vector<Match> matches;
    std::set<const Series*> stood_in;
    const auto stands_in = [&](const Series& series, ByName& other) {
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
