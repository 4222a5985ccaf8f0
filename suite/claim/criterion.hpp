// Whether a claim's test holds for the observations that count, and the sentence that says so.
#pragma once

#include <optional>
#include <string>

#include "suite/claim/quantity.hpp"
#include "suite/claim/seed_interval.hpp"

namespace assay {

struct TestOutcome {
    Standing standing = Standing::undecided;
    double slack = 0;                ///< how far the least favourable point is from failing
    std::optional<double> obtained;  ///< at it; of walks the worst step, later less earlier
    std::string text;                ///< what was compared, over how many samples, with what spread
    SeedRange seeds = {};            ///< behind `obtained`
};

/// The less favourable of two; a NaN's slack is the least.
bool less_favourable(const TestOutcome&, const TestOutcome&);

/// Nothing when the observations lack a point that the test is about.
std::optional<TestOutcome> apply_test(const Claim& claim, const Observations& observations);

/// Whether a value that the explanation covers would support the claim.
bool may_support(const Claim&, const Explanation&);

}  // namespace assay
