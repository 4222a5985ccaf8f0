#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "impls/hetermoe/experiments/experiments.hpp"
#include "suite/claim/quantity.hpp"

namespace assay::hetermoe {
namespace {

// What a check makes of the ratios of all cases at one end of the assumptions.
struct Found {
    double value = 0;  ///< NaN: the case that it is of was not run
    std::string says;
    bool holds = true;  ///< what is claimed beside the value
};
using Reduce = std::function<Found(const std::vector<Measured>&)>;

std::vector<Case> ends_of(const Claim& claim) {
    std::vector<Case> ends{{}};
    for (const auto& [name, range] : claim.assumes) {
        std::vector<Case> longer;
        for (Case end : ends)
            for (const double value : range) {
                end[name] = value;
                longer.push_back(end);
            }
        ends = std::move(longer);
    }
    return ends;
}

// Without a tolerance the reduction says whether it holds.
bool near(const Claim& claim, double value) {
    if (!claim.relative && !claim.absolute) return true;
    const double wide =
        std::max(claim.absolute.value_or(0), claim.relative.value_or(0) * std::abs(*claim.value));
    return std::abs(value - *claim.value) <= wide;
}

// Cases with flows (axis network, which others do not name) would count a case of the figure twice.
ClaimCheck over_cases(const Claim& claim, std::span<const Observation> observations,
                      const Reduce& reduce) {
    ClaimCheck check;
    check.claim = claim.id;
    check.verdict = ClaimVerdict::supported;
    for (const Case& end : ends_of(claim)) {
        Observations at_end;
        for (const Observation& observation : observations)
            if (is_at(observation, end) && !observation.axes.contains("network"))
                at_end.push_back(&observation);
        const std::vector<Measured> cases = measure(claim, at_end, false);
        if (cases.empty()) {
            check.verdict = ClaimVerdict::not_run;
            check.reason = "no case has both sides at " + to_string(end);
            return check;
        }
        const Found found = reduce(cases);
        if (std::isnan(found.value)) {
            check.verdict = ClaimVerdict::not_run;
            check.reason = found.says;
            return check;
        }
        const bool holds = found.holds && near(claim, found.value);
        if (check.verdict == ClaimVerdict::supported) check.obtained = found.value;
        if (!holds) check.verdict = ClaimVerdict::contradicted;
        check.reason +=
            fmt::format("{}{}{}", check.reason.empty() ? "" : "; ",
                        end.empty() ? "" : "assuming " + to_string(end) + ": ", found.says);
    }
    check.reason += fmt::format("; claimed {:.4g}", *claim.value);
    return check;
}

Found average(const std::vector<Measured>& cases) {
    double sum = 0, low = cases.front().value, high = low;
    for (const Measured& one : cases) {
        sum += one.value;
        low = std::min(low, one.value);
        high = std::max(high, one.value);
    }
    const double mean = sum / static_cast<double>(cases.size());
    return {mean, fmt::format("on average {:.3f} over {} cases ({:.3f} to {:.3f})", mean,
                              cases.size(), low, high)};
}

bool is_there(const Measured& one, const Case& there) {
    return std::all_of(there.begin(), there.end(), [&](const auto& entry) {
        const auto found = one.at.find(entry.first);
        return found != one.at.end() && same_value(found->second, entry.second);
    });
}

bool smaller(const Measured& a, const Measured& b) { return a.value < b.value; }

Found largest(const std::vector<Measured>& cases) {
    const Measured& most = *std::max_element(cases.begin(), cases.end(), smaller);
    return {most.value, fmt::format("at most {:.3f} of {} cases, at {}", most.value, cases.size(),
                                    to_string(most.at))};
}

Found smallest(const std::vector<Measured>& cases) {
    const Measured& least = *std::min_element(cases.begin(), cases.end(), smaller);
    return {least.value, fmt::format("at least {:.3f} of {} cases, at {}", least.value,
                                     cases.size(), to_string(least.at))};
}

// The largest, which has to be there.
Reduce largest_at(const Case& there) {
    return [there](const std::vector<Measured>& cases) {
        const Measured& most = *std::max_element(cases.begin(), cases.end(), smaller);
        Found found = largest(cases);
        found.holds = is_there(most, there);
        if (!found.holds) found.says += ", not at " + to_string(there);
        return found;
    };
}

// The only ratio below 1 is the one there; the value is of that one.
Reduce only_loss(const Case& there) {
    return [there](const std::vector<Measured>& cases) {
        Found found{.value = std::nan("")};
        std::string losses;
        for (const Measured& one : cases) {
            const bool here = is_there(one, there);
            if (here) found.value = one.value;
            if (one.value >= 1) continue;
            found.holds = found.holds && here;
            losses += fmt::format("{}{:.3f} at {}", losses.empty() ? "" : ", ", one.value,
                                  to_string(one.at));
        }
        if (std::isnan(found.value)) {
            found.says = "no case has both sides at " + to_string(there);
            return found;
        }
        found.says = fmt::format("{:.3f} at {}; of {} cases below 1: {}", found.value,
                                 to_string(there), cases.size(), losses.empty() ? "none" : losses);
        return found;
    };
}

// The smallest of sequences that long, no less than claimed.
CustomCheck least_between(double from_k, double to_k) {
    return [from_k, to_k](const Claim& claim, std::span<const Observation> observations) {
        return over_cases(claim, observations, [&](const std::vector<Measured>& cases) {
            std::vector<Measured> between;
            for (const Measured& one : cases) {
                const Value& k = one.at.at("sequence");
                const double length = std::holds_alternative<std::int64_t>(k)
                                          ? static_cast<double>(std::get<std::int64_t>(k))
                                          : std::get<double>(k);
                if (length >= from_k && length <= to_k) between.push_back(one);
            }
            if (between.empty())
                return Found{.value = std::nan(""), .says = "no sequence is that long"};
            Found found = smallest(between);
            found.holds = found.value >= *claim.value;
            return found;
        });
    };
}

// Fig. 10 has four A40.
Found best_old(const std::vector<Measured>& cases) {
    const Measured& best = *std::max_element(cases.begin(), cases.end(), smaller);
    const auto old = std::get<std::int64_t>(best.at.at("old"));
    return {static_cast<double>(old) / 4,
            fmt::format("the ratio is largest, {:.3f}, at 4:{}", best.value, old)};
}

// Of absolute values, over all variants too.
ClaimCheck median_at_most(const Claim& claim, std::span<const Observation> observations) {
    ClaimCheck check;
    check.claim = claim.id;
    Observations all;
    for (const Observation& observation : observations) all.push_back(&observation);
    std::vector<double> values;
    for (const Measured& one : measure(claim, all, true)) values.push_back(std::abs(one.value));
    if (values.empty()) {
        check.reason = "no case was run";
        return check;
    }
    check.obtained = median(values);
    check.verdict =
        *check.obtained <= *claim.value ? ClaimVerdict::supported : ClaimVerdict::contradicted;
    check.reason = fmt::format(
        "in the median {:.4f} over {} cases (at most {:.4f}); claimed {:.4g}", *check.obtained,
        values.size(), *std::max_element(values.begin(), values.end()), *claim.value);
    return check;
}

CustomCheck check_of(const Reduce& reduce) {
    return [reduce](const Claim& claim, std::span<const Observation> observations) {
        return over_cases(claim, observations, reduce);
    };
}

}  // namespace

std::map<std::string, CustomCheck, std::less<>> claim_checks() {
    return {{"average", check_of(average)},
            {"largest", check_of(largest)},
            {"largest_on_w2_o2", check_of(largest_at({{"panel", "w2-o2"}}))},
            {"largest_on_d1_o1_20k",
             check_of(largest_at({{"panel", "d1-o1"}, {"sequence", std::int64_t{20}}}))},
            {"only_loss_w2_o2_4k",
             check_of(only_loss({{"panel", "w2-o2"}, {"sequence", std::int64_t{4}}}))},
            {"least_12k_to_20k", least_between(12, 20)},
            {"smallest", check_of(smallest)},
            {"best_old", check_of(best_old)},
            {"median_at_most", median_at_most}};
}

}  // namespace assay::hetermoe
