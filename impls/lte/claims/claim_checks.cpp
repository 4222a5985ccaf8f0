#include "impls/lte/claims/claim_checks.hpp"

#include <fmt/format.h>

#include <numeric>

#include "suite/claim/quantity.hpp"

namespace assay::lte {

std::map<std::string, CustomCheck, std::less<>> claim_checks() {
    return {{"better_at_equal_sparsity", better_at_equal_sparsity},
            {"alike_at_equal_sparsity", alike_at_equal_sparsity},
            {"no_better_at_equal_sparsity", no_better_at_equal_sparsity},
            {"better_at_equal_latency", better_at_equal_latency},
            {"clearly_greater", clearly_greater},
            {"clearly_at_most", clearly_at_most},
            {"clearly_at_least", clearly_at_least},
            {"latency_nearly_linear", latency_nearly_linear},
            {"mostly_slower", mostly_slower},
            {"grows_sublinearly", grows_sublinearly},
            {"falls_with_sparsity", falls_with_sparsity},
            {"falls_with_layer", falls_with_layer},
            {"rises_with_eta", rises_with_eta},
            {"freer_patterns_better", freer_patterns_better},
            {"layers_differ", layers_differ}};
}

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

}  // namespace assay::lte
