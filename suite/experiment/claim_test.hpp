// Whether a claim's test holds for the observations that count, and the sentence that says so.
#pragma once

#include <optional>
#include <string>

#include "suite/experiment/claim_measure.hpp"

namespace assay {

struct TestOutcome {
    bool holds = false;
    double slack = 0;  ///< how far the value is from failing; 0 for increasing, decreasing, order
    std::optional<double>
        obtained;      ///< of the least favourable case; none for increasing, decreasing, order
    std::string text;  ///< what was compared, over how many samples, with what spread
};

/// Nothing when the observations lack a point that the test is about.
std::optional<TestOutcome> apply_test(const Claim& claim, const Observations& observations);

}  // namespace assay
