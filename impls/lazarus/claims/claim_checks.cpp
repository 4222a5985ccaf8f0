// The check of Table 2. The paper does not name its victims: were they drawn evenly from the
// recoverable sets, would a count as far out as the paper's be rare?
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>

#include "impls/lazarus/experiments/experiments.hpp"
#include "suite/base/suggested_command.hpp"

namespace assay::lazarus {
namespace {

// How many recoverable sets of victims move so many expert states: of one sample, for what is exact
// is alike in all.
std::map<std::int64_t, double> sets_by_transfers(const Claim& claim,
                                                 std::span<const Observation> observations) {
    const auto selected = [&](const Observation& o) {
        return o.variant == claim.of.variant && o.metric == claim.metric &&
               std::all_of(claim.of.where.begin(), claim.of.where.end(), [&](const auto& axis) {
                   const auto found = o.axes.find(axis.first);
                   return found != o.axes.end() && found->second == axis.second;
               });
    };
    std::map<std::int64_t, double> sets;
    const auto first = std::find_if(observations.begin(), observations.end(), selected);
    for (auto o = first; o != observations.end(); ++o)
        if (selected(*o) && o->sample == first->sample)
            sets[std::get<std::int64_t>(o->labels.at("transfers"))] = o->value;
    return sets;
}

ClaimCheck tab2_within(const Claim& claim, std::span<const Observation> observations) {
    const double level = claim.relative.value_or(0.05);
    ClaimCheck check;
    check.claim = claim.id;
    const auto sets = sets_by_transfers(claim, observations);
    if (sets.empty()) {
        check.reason = "no count of states by sets of victims yet: run " +
                       suggested("run " + claim.experiment);
        return check;
    }
    double all = 0, at_most = 0, at_least = 0;
    for (const auto& [transfers, count] : sets) {
        const auto states = static_cast<double>(transfers);
        all += count;
        if (states <= *claim.value) at_most += count;
        if (states >= *claim.value) at_least += count;
    }
    double below = 0;
    auto median = sets.begin();
    while (below + median->second < all / 2) below += (median++)->second;
    const double tail = std::min(1.0, 2 * std::min(at_most, at_least) / all);
    check.verdict = tail >= level ? ClaimVerdict::supported : ClaimVerdict::contradicted;
    check.obtained = static_cast<double>(median->first);
    check.reason = fmt::format(
        "of {:.0f} recoverable sets of victims {:.1f} % move at most the paper's {:.0f} states and "
        "{:.1f} % at least ({} to {}, median {}): two-sided tail probability {:.3f}, {} {:g}; that "
        "the victims were drawn evenly is our reading",
        all, 100 * at_most / all, *claim.value, 100 * at_least / all, sets.begin()->first,
        sets.rbegin()->first, median->first, tail, tail >= level ? "not below" : "below", level);
    return check;
}

}  // namespace

std::map<std::string, CustomCheck, std::less<>> claim_checks() {
    return {{"tab2_within", tab2_within}};
}

}  // namespace assay::lazarus
