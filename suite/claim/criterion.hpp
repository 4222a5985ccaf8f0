// Whether a claim's test holds for the observations that count, and the sentence that says so.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/claim/claim.hpp"
#include "suite/claim/quantity.hpp"

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

// What several machines, or several sets of observations, say about one claim, as one verdict.

/// What one comparable set of observations says.
struct Finding {
    ClaimCheck check;
    double slack = 0;  ///< how far it is from failing, where the test has a measure for that
};

/// What does not hold before what does, then the one with the least slack; of equals the first.
/// `findings` must not be empty.
const Finding& least_favourable(std::span<const Finding> findings);

struct MachineFinding {
    std::string hardware;  ///< fingerprint; empty: no machine matters
    std::string host;      ///< its name, where known
    Finding finding;
};

/// Of a single machine its own check. Of several the least favourable one, with a reason that names
/// them: all of them where they agree, else on which it holds and on which not. Not empty.
ClaimCheck over_machines(std::vector<MachineFinding> findings);

}  // namespace assay
