#include "impls/lazarus/experiments/claim_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay::lazarus {
namespace {

using Observations = std::span<const Observation>;

bool has(const std::map<std::string, Value, std::less<>>& values, const Case& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
        const auto found = values.find(pair.first);
        return found != values.end() && found->second == pair.second;
    });
}

// The median over samples of a metric at one point, or nullopt.
std::optional<double> value_at(Observations observations, std::string_view variant,
                               std::string_view metric, const Case& axes, const Case& labels) {
    std::vector<double> values;
    for (const Observation& o : observations) {
        if (o.variant == variant && o.metric == metric && has(o.axes, axes) &&
            has(o.labels, labels)) {
            values.push_back(o.value);
        }
    }
    if (values.empty()) return std::nullopt;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

ClaimCheck not_run(const Claim& claim, const std::string& what) {
    ClaimCheck check;
    check.claim = claim.id;
    check.verdict = Verdict::not_run;
    check.reason = fmt::format("run `assay run {}` first: {}", claim.experiment, what);
    return check;
}

ClaimCheck answer(const Claim& claim, Verdict verdict, std::optional<double> obtained,
                  std::string reason) {
    ClaimCheck check;
    check.claim = claim.id;
    check.verdict = verdict;
    check.reason = std::move(reason);
    check.provenance = Provenance::exact;
    check.obtained = obtained;
    return check;
}

std::optional<double> recovery(Observations observations, std::string_view variant,
                               const Case& axes, std::int64_t failed) {
    return value_at(observations, variant, "recovery_probability", axes, {{"failed", failed}});
}

// Obtained here and below: whether the statement holds, 0 or 1.
ClaimCheck theorem1(const Claim& claim, Observations observations) {
    auto instances = [&](const char* of, const char* outcome) {
        return value_at(observations, "mro", "instances", {{"part", "all_small"}},
                        {{"class", of}, {"outcome", outcome}});
    };
    double optimal = 0, suboptimal = 0;
    for (const char* of : {"one_group", "whole_groups", "cut_group"}) {
        const auto good = instances(of, "optimal"), bad = instances(of, "suboptimal");
        if (!good || !bad) return not_run(claim, "the exhaustive search has no result yet");
        optimal += *good;
        suboptimal += *bad;
    }
    const double cut = *instances("cut_group", "suboptimal");
    std::string reason = fmt::format(
        "exhaustive search over {:.0f} instances: MRO reaches the best recovery probability for "
        "every number of failures in {:.0f}, not in {:.0f}; {:.0f} of these {:.0f} have a last "
        "group that gets fewer nodes than its coldest expert has replicas",
        optimal + suboptimal, optimal, suboptimal, cut, suboptimal);
    const Case small = {{"part", "n3_c2_e3"}};
    const auto mro = recovery(observations, "mro", small, 1),
               spread = recovery(observations, "spread", small, 1);
    if (mro && spread) {
        reason += fmt::format(
            "; by hand: 3 nodes, 2 slots, replicas 2+2+2, one failure: MRO {:.3f}, spread {:.3f}",
            *mro, *spread);
    }
    const bool holds = suboptimal == 0;
    return answer(claim, holds ? Verdict::supported : Verdict::open_discrepancy, holds, reason);
}

ClaimCheck fewer_than_f(const Claim& claim, Observations observations) {
    const Case part = {{"part", "n5_c6_e13"}};
    const auto mro = recovery(observations, "mro", part, 1),
               spread = recovery(observations, "spread", part, 1);
    if (!mro || !spread) return not_run(claim, "the part n5_c6_e13 has no result yet");
    const bool holds = *mro == 1;
    return answer(
        claim, holds ? Verdict::supported : Verdict::open_discrepancy, holds,
        fmt::format("5 nodes, 6 slots, 13 experts of even load, f = 2 (replicas 9 x 2, 4 x 3): MRO "
                    "survives one failure with probability {:.3f}, because all three replicas of "
                    "the last expert share a node; spreading survives it with {:.3f}",
                    *mro, *spread));
}

ClaimCheck fig8_41(const Claim& claim, Observations observations) {
    auto at = [&](const char* order, const char* trace, std::int64_t failed) {
        return recovery(
            observations, "mro",
            {{"model", "gpt-l"}, {"step", std::int64_t{200}}, {"order", order}, {"trace", trace}},
            failed);
    };
    const auto published = at("aligned", "smartmoe", 4);
    const auto own = at("aligned", "synthetic", 4);
    if (!published && !own)
        return not_run(claim, "no GPT-L plan at step 200 has been evaluated yet");
    std::string reason;
    if (published) {
        reason = fmt::format(
            "on the SmartMoE trace MRO survives four failures with {:.1f} % when the node groups "
            "of all layers are aligned",
            100 * *published);
        if (const auto shuffled = at("shuffled", "smartmoe", 4)) {
            reason += fmt::format(", {:.1f} % when each layer orders its groups at random",
                                  100 * *shuffled);
        }
        if (const auto five = at("aligned", "smartmoe", 5)) {
            reason += fmt::format("; five failures give {:.1f} %", 100 * *five);
        }
    } else {
        reason = fmt::format(
            "without the SmartMoE trace: on the synthetic trace aligned groups give {:.1f} %",
            100 * *own);
    }
    reason +=
        "; for any trace: where the two coldest groups of every layer have f = 2 nodes each and "
        "lie on the same nodes, at least 129 of 210 failure sets are survived, 61.4 %; 102 of 252 "
        "= 40.5 % belongs to five failures (an off-by-one would explain it), and 86 of 210 = 41.0 "
        "% arises where layers place a group on different nodes";
    const bool matches = published && claim.value &&
                         std::abs(*published - *claim.value) <= claim.absolute.value_or(0.005);
    return answer(claim, matches ? Verdict::supported : Verdict::open_discrepancy, published,
                  reason);
}

// The paper does not name the victims of Table 2: its count must lie within those of all sets of
// victims.
ClaimCheck tab2_within(const Claim& claim, Observations observations) {
    const auto transfers = [&](const char* which) {
        return value_at(observations, "lazarus", "transfers", claim.of.where,
                        {{"over_sets", std::string(which)}});
    };
    const auto least = transfers("min"), most = transfers("max"), middle = transfers("median");
    if (!least || !most || !middle) return not_run(claim, "no count of transfers yet");
    const bool within = *least <= *claim.value && *claim.value <= *most;
    const auto verdict = within                      ? Verdict::supported
                         : claim.discrepancy.empty() ? Verdict::contradicted
                                                     : Verdict::open_discrepancy;
    return answer(
        claim, verdict, middle,
        fmt::format("over every recoverable set of victims {:.0f} to {:.0f} states travel, "
                    "median {:.0f}; the paper's {:.0f} is {}",
                    *least, *most, *middle, *claim.value, within ? "one of them" : "outside"));
}

}  // namespace

std::map<std::string, CustomCheck, std::less<>> claim_checks() {
    return {{"theorem1", theorem1},
            {"fewer_than_f", fewer_than_f},
            {"fig8_41", fig8_41},
            {"tab2_within", tab2_within}};
}

}  // namespace assay::lazarus
